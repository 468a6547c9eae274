# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the files of examples/cluster without a cluster: this test starts the commands that Slurm and Kubernetes would start.

    python cluster_test.py HONE SOURCE

examples/cluster/try-slurm runs the array on a real Slurm. Skipped (status 77) if there is no Redis.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HONE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CLUSTER = os.path.join(SOURCE, "examples", "cluster")
REDIS = next((p for p in ("/usr/bin/redis-server", "/usr/bin/redis-check-rdb", "/usr/bin/valkey-check-rdb") if os.path.exists(p)), None)


def text_of(name):
    with open(os.path.join(CLUSTER, name)) as file:
        return file.read()


class AnArrayOfWorkers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = os.path.join(self.folder.name, "redis-server")
        os.symlink(REDIS, server)
        self.queue = f"redis://127.0.0.1:{port}/sim"
        self.environment = dict(os.environ, HONE_STATE=os.path.join(self.folder.name, "state"),
                                PATH=os.path.dirname(HONE) + os.pathsep + os.environ.get("PATH", ""))
        self.server = subprocess.Popen([server, "--port", str(port), "--bind", "127.0.0.1", "--dir", self.folder.name, "--save", ""],
                                       stdout=subprocess.DEVNULL)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)

    def tearDown(self):
        self.server.kill()
        self.server.wait()
        self.folder.cleanup()

    def start(self, **more):
        """Starts a batch script as slurmd does: in a shell of its own, with the job's environment."""
        environment = dict(self.environment, HONE_QUEUE=self.queue, SLURM_ARRAY_TASK_ID="0", **more)
        return subprocess.Popen(["/bin/bash", os.path.join(CLUSTER, "hone-worker.sbatch")], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def seen(self):
        workers = subprocess.run([HONE, "workers", self.queue, "--json"], env=self.environment, stdout=subprocess.PIPE, check=True).stdout
        return json.loads(workers)

    def test_judges_ends_when_idle_and_is_preempted_in_order(self):
        preempted, steady = self.start(HONE_DEVICE="sim"), self.start(HONE_DEVICE="sim", HONE_UNTIL_IDLE="3s")
        seed = os.path.join(SOURCE, "tasks", "relu", "seed.cu")
        evals = [subprocess.Popen([HONE, "eval", os.path.join(SOURCE, "tasks", "relu"), seed, "--device", self.queue, "--no-time", "--json"],
                                  env=self.environment, stdout=subprocess.PIPE) for _ in range(3)]
        until = time.monotonic() + 60
        while len(self.seen()["workers"]) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(len(self.seen()["workers"]), 2)
        # By `exec` the program has replaced the batch shell, so that Slurm's signal reaches it.
        preempted.send_signal(signal.SIGTERM)
        worker_output, _ = preempted.communicate(timeout=120)
        self.assertEqual(preempted.returncode, 0, worker_output)
        self.assertRegex(worker_output, r"judged \d+ jobs? of ")
        for client in evals:
            answer, _ = client.communicate(timeout=120)
            self.assertEqual(json.loads(answer)["verdict"], "ok")
        worker_output, _ = steady.communicate(timeout=120)
        self.assertEqual(steady.returncode, 0, worker_output)

    def test_says_which_variable_is_missing(self):
        done = subprocess.run(["/bin/bash", os.path.join(CLUSTER, "hone-worker.sbatch")], env=self.environment, stderr=subprocess.PIPE, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("HONE_QUEUE: name the queue", done.stderr)


class AServerWithUsers(unittest.TestCase):
    """Returns examples/cluster/redis.conf with the rules of `hone rights`, with other paths and another port."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = lambda name: os.path.join(self.folder.name, name)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        os.symlink(REDIS, self.path("redis-server"))
        self.environment = dict(os.environ, HONE_STATE=self.path("state"))
        for user in ("admin", "alice", "bob", "gpu-worker"):
            with open(self.path(user), "w") as file:
                file.write(f"password of {user}\n")
        rules = self.hone("rights", "sim", "--administrator", self.path("admin"), "--submitter", "alice=" + self.path("alice"),
                          "--submitter", "bob=" + self.path("bob"), "--worker", "gpu-worker=" + self.path("gpu-worker"))
        self.assertEqual(rules.returncode, 0, rules.stderr)
        with open(self.path("users.acl"), "w") as file:
            file.write(rules.stdout)
        text = text_of("redis.conf")
        for there, here in (("port 6379", f"port {self.port}"), ("/etc/hone/users.acl", self.path("users.acl")), ("/var/lib/redis", self.folder.name)):
            self.assertIn("\n" + there if there[0] != "/" else there, text)
            text = text.replace(there, here)
        with open(self.path("redis.conf"), "w") as file:
            file.write(text)
        self.start()

    def start(self):
        self.server = subprocess.Popen([self.path("redis-server"), self.path("redis.conf")], stdout=subprocess.DEVNULL)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)

    def stop(self):
        self.server.kill()
        self.server.wait()

    def tearDown(self):
        self.stop()
        self.folder.cleanup()

    def hone(self, *words):
        return subprocess.run([HONE, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)

    def address(self, user, named=True):
        return f"redis://{user + '@' if named else ''}127.0.0.1:{self.port}/sim?password_file={self.path(user)}"

    def judge(self, user):
        return self.hone("eval", os.path.join(SOURCE, "tasks", "relu"), os.path.join(SOURCE, "tasks", "relu", "seed.cu"), "--no-time", "--json",
                         "--device", self.address(user))

    def test_keeps_its_users_and_each_within_its_rights(self):
        worker = subprocess.Popen([HONE, "worker", "--queue", self.address("gpu-worker"), "--device", "sim", "--parallel", "1"], env=self.environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            judged = self.judge("alice")
            self.assertEqual(json.loads(judged.stdout)["verdict"], "ok", judged.stderr)
            wrong = (self.judge("gpu-worker"), self.hone("worker", "--queue", self.address("alice"), "--device", "sim"),
                     self.hone("clean", self.address("bob")))
            for refused in wrong:
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertIn("this user lacks the rights", refused.stderr)
                self.assertNotIn("judges jobs", refused.stderr)
            cleaned = self.hone("clean", self.address("admin", named=False), "--json")
            self.assertEqual(json.loads(cleaned.stdout)["there"]["answers"], 1, cleaned.stderr)
            seed = self.hone("eval", os.path.join(SOURCE, "tasks", "relu"), os.path.join(SOURCE, "tasks", "relu", "seed.cu"), "--seed", "5",
                             "--device", self.address("alice"))
            self.assertEqual(seed.returncode, 2)
            self.assertIn("a queue's worker draws the seed", seed.stderr)
            # After a restart all data is there again, and the worker has waited for it.
            self.stop()
            time.sleep(1)
            self.start()
            judged = self.judge("bob")
            self.assertEqual(json.loads(judged.stdout)["verdict"], "ok", judged.stderr)
        finally:
            worker.terminate()
            worker_output = worker.communicate(timeout=60)[1]
        self.assertEqual(worker.returncode, 0, worker_output)
        self.assertIn("trying again for ten minutes", worker_output)


class TheFiles(unittest.TestCase):
    def test_slurms_options_are_slurms(self):
        options = re.findall(r"^#SBATCH (\S+)", text_of("hone-worker.sbatch"), re.MULTILINE)
        allowed_options = {"--job-name", "--gres", "--cpus-per-task", "--mem", "--time", "--requeue", "--signal"}
        self.assertEqual({option.split("=")[0] for option in options}, allowed_options)

    def test_kubernetes_and_systemd_start_workers_with_options_that_there_are(self):
        arguments = re.search(r"args: \[(.*)\]", text_of("hone-worker.yaml")).group(1)
        self.check_worker([word.strip().strip('"') for word in arguments.split(",")])
        self.check_worker(re.search(r"^ExecStart=/usr/bin/(.*)$", text_of("hone-worker@.service"), re.MULTILINE).group(1).split())

    def check_worker(self, words):
        self.assertEqual(words[:2], ["hone", "worker"])
        help_text = subprocess.run([HONE, "worker", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for option in [word for word in words if word.startswith("--")]:
            self.assertIn(option, help_text)
        # The address is parsed before the worker connects, so a wrong one would be refused with its name.
        address = re.sub(r"@\w+/", "@127.0.0.1:1/", words[words.index("--queue") + 1], count=1)
        done = subprocess.run([HONE, "worker", "--queue", address, "--device", "sim"], stderr=subprocess.PIPE, text=True)
        self.assertIn("cannot be reached", done.stderr)

    def test_the_demonstration_is_a_script(self):
        subprocess.run(["/bin/bash", "-n", os.path.join(CLUSTER, "try-slurm")], check=True)
        for word in ("hone-worker.sbatch", "slurmctld", "munged"):
            self.assertIn(word, text_of("try-slurm"))


if __name__ == "__main__":
    if REDIS is None:
        print("skipped: redis-server is not here (apt install redis-tools)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
