# A student's JupyterLab: the notebooks with their checks, and nothing hidden.
#
#   docker build --build-arg UNIT=02 --tag transformer .
#   docker run --rm --publish 8888:8888 --volume transformer:/home/student transformer
FROM python:3.12-slim AS kit
ARG UNIT=""
ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
WORKDIR /course
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt --editable . \
 && autograder kit ${UNIT}

FROM python:3.12-slim
ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
COPY --from=kit /course/constraints.txt /course/dist/student /opt/transformer/
RUN pip install --no-cache-dir --constraint /opt/transformer/constraints.txt \
      /opt/transformer/*.whl jupyterlab ipywidgets \
 && useradd --create-home student
COPY autograder/classroom/student_jupyter/ /usr/local/etc/jupyter/
USER student
WORKDIR /home/student
EXPOSE 8888
CMD ["sh", "-c", "cp -rn /opt/transformer/notebooks . ; exec jupyter lab --ip=0.0.0.0 --no-browser"]
