"""Confined, pre-warmed kernels for untrusted notebooks.

``JUPYTER_DEFAULT_PROVISIONER_NAME=autograder-sandbox`` makes nbclient, nbgrader or any
other user of jupyter_client start its kernels here. A kernel spec holds the limits
(`provisioner.in_sandbox`), or ``AUTOGRADER_SANDBOX_POLICY`` (`Policy.to_json()`).

provisioner  what jupyter_client calls            trusted, beside the gradebook
client       finds or starts the warm server      trusted, beside the gradebook
fork_server  imports what is needed, then forks   holds no secret
supervisor   one per kernel: from start to end    holds no secret
start        forks the kernel and hands it over   its child becomes the sandbox
watch        limits while it runs, why it ended   memory_accounting, cgroup, processes
relay        between kernel and client            messages: counts and limits them
confine      isolation, by system calls           runs in the child before the student
inside       the kernel itself                    untrusted from its first cell on
selftest     proves each denial before any use    kit: what a sandbox may see
"""
