"""A JupyterHub for this course: students, graders, and one formgrader for all of them.

Copy it, change the lines below, see docs/jupyterhub.md. Everybody has an account on the
machine; graders are the members of the group that `autograder exchange` made.
"""

import grp
import pwd

# --- change these --------------------------------------------------------------------

COURSE = "transformer"
GROUP = "nbgraders"  # of the graders
ADMINS = {"prof"}
SERVICE_ACCOUNT = "formgrader"  # runs the shared formgrader; one of the graders
COURSE_FOLDER = "/srv/nbgrader/transformer"
GRADERS_ENVIRONMENT = "/opt/transformer-course/.venv"
STUDENTS_ENVIRONMENT = "/opt/transformer"
FORMGRADER_PORT = 9999  # on this machine only
# "https://hub.uni.example" gives each server an address of its own below it; without,
# a page on a student's server can act for a grader who opens it (see the docs).
SUBDOMAIN_HOST = ""

# --- who may do what -----------------------------------------------------------------

c = get_config()  # noqa: F821

GRADERS = set(grp.getgrnam(GROUP).gr_mem) - {SERVICE_ACCOUNT}

c.Authenticator.allow_all = True  # whoever can log in to the machine
c.Authenticator.admin_users = ADMINS
c.JupyterHub.subdomain_host = SUBDOMAIN_HOST
c.JupyterHub.load_groups = {"graders": {"users": sorted(GRADERS)}}
c.JupyterHub.load_roles = [
    {
        "name": "graders",
        "groups": ["graders"],
        "scopes": [f"access:services!service={COURSE}"],
    }
]

# --- servers: graders work in the course's folder, students at home ------------------

PATH = "/usr/local/bin:/usr/bin:/bin"


def choose_environment(spawner) -> None:
    """Give graders the environment with the solutions, and students the other one."""
    grader = spawner.user.name in set(grp.getgrnam(GROUP).gr_mem)
    environment = GRADERS_ENVIRONMENT if grader else STUDENTS_ENVIRONMENT
    home = pwd.getpwnam(spawner.user.name).pw_dir
    spawner.cmd = [f"{environment}/bin/jupyterhub-singleuser"]
    spawner.notebook_dir = COURSE_FOLDER if grader else home
    spawner.environment = {
        **spawner.environment,
        "PATH": f"{environment}/bin:{PATH}",
        "OMP_NUM_THREADS": "1",
    }


c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.pre_spawn_hook = choose_environment
c.Spawner.default_url = "/lab"

# --- the shared formgrader: /services/COURSE/formgrader ------------------------------

c.JupyterHub.services = [
    {
        "name": COURSE,
        "display": True,
        "url": f"http://127.0.0.1:{FORMGRADER_PORT}",
        "command": [f"{GRADERS_ENVIRONMENT}/bin/jupyterhub-singleuser"],
        "user": SERVICE_ACCOUNT,
        "cwd": COURSE_FOLDER,
        "oauth_no_confirm": True,
        "environment": {
            "PATH": f"{GRADERS_ENVIRONMENT}/bin:{PATH}",
            "HOME": pwd.getpwnam(SERVICE_ACCOUNT).pw_dir,
            "JUPYTERHUB_DEFAULT_URL": "/formgrader",
            "OMP_NUM_THREADS": "1",
        },
    }
]
