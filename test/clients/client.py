"""Debian's python3-kubernetes as a client of the embedded server; python.test.ts runs it with a command and reads its lines.

Each line of output is a JSON array: what was done, and what came of it.
"""

import json
import sys
import threading

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

config.load_kube_config()
core, apps, coordination = client.CoreV1Api(), client.AppsV1Api(), client.CoordinationV1Api()


def say(*what):
    print(json.dumps(what), flush=True)


def status_of(call, *args, **kwargs):
    """Code and reason of the refusal, as the Status in the body has them."""
    try:
        call(*args, **kwargs)
    except ApiException as refusal:
        body = json.loads(refusal.body)
        return [refusal.status, body["kind"], body["reason"]]
    return None


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"of": "python"}), data=data)


def write(namespace):
    created = core.create_namespaced_config_map(namespace, config_map("a", x="1"))
    say("created", created.data, created.metadata.creation_timestamp.tzinfo is not None)
    say("again", status_of(core.create_namespaced_config_map, namespace, config_map("a")))
    merged = core.patch_namespaced_config_map("a", namespace, {"data": {"y": "2"}})
    say("merged", merged.data)
    patched = core.patch_namespaced_config_map("a", namespace, [{"op": "remove", "path": "/data/x"}])
    say("patched", patched.data)
    stale = config_map("a", z="3")
    stale.metadata.resource_version = created.metadata.resource_version
    say("stale", status_of(core.replace_namespaced_config_map, "a", namespace, stale))
    stale.metadata.resource_version = patched.metadata.resource_version
    say("replaced", core.replace_namespaced_config_map("a", namespace, stale).data)
    say("deleted", core.delete_namespaced_config_map("a", namespace).status)
    say("gone", status_of(core.read_namespaced_config_map, "a", namespace))


def workload(namespace):
    labels = {"app": "web"}
    container = client.V1Container(name="web", image="example.test/web:1")
    template = client.V1PodTemplateSpec(client.V1ObjectMeta(labels=labels), client.V1PodSpec(containers=[container]))
    spec = client.V1DeploymentSpec(replicas=1, selector=client.V1LabelSelector(match_labels=labels), template=template)
    deployment = client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
    made = apps.create_namespaced_deployment(namespace, deployment)
    say("made", made.spec.strategy.type, made.metadata.generation)
    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "example.test/side:1"}]}}}}
    changed = apps.patch_namespaced_deployment("web", namespace, sidecar)
    say("changed", sorted(one.name for one in changed.spec.template.spec.containers), changed.metadata.generation)
    say("scaled", apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}}).spec.replicas)
    made.spec.selector = client.V1LabelSelector(match_labels={"app": "other"})
    made.metadata = client.V1ObjectMeta(name="bad")
    say("bad", status_of(apps.create_namespaced_deployment, namespace, made))


def pages(namespace):
    for number in range(7):
        core.create_namespaced_config_map(namespace, config_map("p{}".format(number)))
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(namespace, label_selector="of=python", limit=3, _continue=token)
        names.append([item.metadata.name for item in page.items])
        token = page.metadata._continue
        if not token:
            break
    say("pages", names)


def follow(namespace):
    """Watches until the server ends it, then goes on where it ended: nothing is lost or seen twice."""
    start = core.list_namespaced_config_map(namespace).metadata.resource_version
    seen, watcher = [], watch.Watch()

    def events(timeout, version):
        for event in watcher.stream(
            core.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=timeout
        ):
            seen.append([event["type"], event["object"].metadata.name])
            version = event["object"].metadata.resource_version
        return version

    core.create_namespaced_config_map(namespace, config_map("a"))
    core.patch_namespaced_config_map("a", namespace, {"data": {"x": "1"}})
    version = events(1, start)
    say("first", seen)
    core.delete_namespaced_config_map("a", namespace)
    core.create_namespaced_config_map(namespace, config_map("b"))
    seen = []
    events(1, version)
    say("resumed", seen)


def leases(namespace):
    """Two candidates for one Lease: the server lets one of two writers of the same version win."""
    lease = client.V1Lease(metadata=client.V1ObjectMeta(name="leader"), spec=client.V1LeaseSpec(lease_duration_seconds=15))
    lease = coordination.create_namespaced_lease(namespace, lease)
    won, start = [], threading.Barrier(4)

    def candidate(identity):
        mine = coordination.read_namespaced_lease("leader", namespace)
        mine.spec.holder_identity = identity
        start.wait()
        if status_of(coordination.replace_namespaced_lease, "leader", namespace, mine) is None:
            won.append(identity)

    threads = [threading.Thread(target=candidate, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say("leases", len(won), coordination.read_namespaced_lease("leader", namespace).spec.holder_identity in won)


def elect(namespace, identity):
    """The library's own leader election; runs until it is killed."""
    from kubernetes.leaderelection import electionconfig, leaderelection
    from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

    say("candidate", identity)
    lock = ConfigMapLock("election", namespace, identity)
    settings = electionconfig.Config(
        lock,
        lease_duration=3,
        renew_deadline=2,
        retry_period=1,
        onstarted_leading=lambda: say("leading", identity),
        onstopped_leading=lambda: say("stopped", identity),
    )
    leaderelection.LeaderElection(settings).run()


globals()[sys.argv[1]](*sys.argv[2:])
