/** The commands of an operator's day, one after another in one namespace: what each prints, and how it ends. `{pod}` and `{node}` are of the Deployment. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { eventually, type Scenario } from "./harness.ts"

/** One command. */
interface Step {
  readonly run: string
  /** Standard input, applied as a file. */
  readonly input?: object | undefined
  /** What its output, of both streams, has to match. */
  readonly prints?: ReadonlyArray<RegExp> | undefined
  /** Default 0. */
  readonly code?: number | undefined
  /** Whether to repeat it until it prints that: events and statuses are written after the change. */
  readonly isRepeated?: boolean | undefined
  /** Not on kube-apiserver 1.20, which lacks the kind or the subresource. */
  readonly isNew?: boolean | undefined
  /** Needs a kubectl of this minor version. */
  readonly client?: number | undefined
}

const objects = (storage: string) => ({
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "claim" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage } } }
    },
    {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "limits" },
      spec: { limits: [{ type: "PersistentVolumeClaim", max: { storage: "9Gi" } }] }
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "closed" },
      spec: { podSelector: {}, policyTypes: ["Ingress"] }
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { color: "blue" } }
  ]
})

const settings = (color: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings" },
  data: { color }
})

const setUp: ReadonlyArray<Step> = [
  { run: "create deployment web --image=example.test/web:1 --replicas=2 --port=80" },
  { run: "rollout status deployment/web --timeout=60s", prints: [/successfully rolled out/] },
  { run: "expose deployment web --port=80" },
  { run: "create job once --image=example.test/job:1" },
  { run: "autoscale deployment web --min=1 --max=9 --cpu-percent=80" },
  { run: "create ingress door --rule=a.example/x=web:80" },
  { run: "create cronjob nightly --image=example.test/a:1 --schedule=@daily", isNew: true },
  { run: "create pdb few --selector=app=web --min-available=1", isNew: true },
  { run: "create quota most --hard=pods=30" },
  { run: "create secret generic hidden --from-literal=word=swordfish" },
  {
    run: "apply -f -",
    input: objects("1Gi"),
    prints: [/persistentvolumeclaim\/claim created/, /configmap\/settings created/]
  }
]

const describing: ReadonlyArray<Step> = [
  {
    run: "describe pod {pod}",
    isRepeated: true,
    prints: [
      /^Status: +Running$/m,
      /^Controlled By: +ReplicaSet\/web-/m,
      /^ +ContainersReady +True *$/m,
      /Normal +Scheduled +\S+ +default-scheduler +Successfully assigned \S+ to /,
      /Normal +Started +\S+ +kubelet +Container started/
    ]
  },
  {
    run: "describe deployment web",
    prints: [
      /^Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable$/m,
      /^NewReplicaSet: +web-\S+ \(2\/2 replicas created\)$/m
    ]
  },
  { run: "describe replicaset -l app=web", prints: [/^Controlled By: +Deployment\/web$/m, /Pods Status: +2 Running/] },
  {
    run: "describe node {node}",
    prints: [/^Non-terminated Pods: +\(\d+ in total\)$/m, /^ +Ready +True .* KubeletReady /m, /^Allocated resources:$/m]
  },
  { run: "describe service web", isRepeated: true, prints: [/^Endpoints: +10\.\S+:80,10\.\S+:80$/m], isNew: true },
  {
    run: "describe job once",
    isRepeated: true,
    prints: [/^Parallelism: +1$/m, /SuccessfulCreate .* Created pod: once-/]
  },
  {
    run: "describe pvc claim",
    prints: [/^Status: +Pending$/m, /^Finalizers: +\[kubernetes.io\/pvc-protection\]$/m],
    isNew: true
  },
  { run: "describe hpa web", prints: [/^Reference: +Deployment\/web$/m, /^Max replicas: +9$/m] },
  { run: "describe ingress door", prints: [/a\.example/, /\/x +web:80/] },
  { run: "describe cronjob nightly", prints: [/^Schedule: +@daily$/m], isNew: true },
  { run: "describe pdb few", isRepeated: true, prints: [/^ +Allowed disruptions: +1$/m], isNew: true },
  { run: "describe quota most", prints: [/^pods +\d+ +30$/m], isNew: true },
  { run: "describe limits limits", prints: [/^PersistentVolumeClaim +storage +- +9Gi /m] },
  { run: "describe networkpolicy closed", prints: [/Policy Types: Ingress/] },
  { run: "describe configmap settings", prints: [/^color:\n----\nblue$/m] },
  { run: "describe secret hidden", prints: [/^word: +9 bytes$/m] },
  { run: "describe serviceaccount default", prints: [/^Name: +default$/m] },
  { run: "describe pod nope", code: 1, prints: [/^Error from server \(NotFound\): pods "nope" not found$/m] }
]

const waiting: ReadonlyArray<Step> = [
  {
    run: "wait deployment/web --for=condition=Available --timeout=30s",
    prints: [/^deployment.apps\/web condition met$/m]
  },
  { run: "wait pod/{pod} --for=jsonpath={.status.phase}=Running --timeout=30s", prints: [/condition met/], client: 23 },
  {
    run: "wait deployment/web --for=condition=Nope --timeout=1s",
    code: 1,
    prints: [/timed out waiting for the condition on deployments\/web/]
  },
  { run: "wait configmap/nope --for=delete --timeout=5s" },
  { run: "wait configmap/settings --for=create --timeout=5s", client: 31 }
]

const discovering: ReadonlyArray<Step> = [
  { run: "api-versions", prints: [/^apps\/v1$/m, /^v1$/m] },
  { run: "api-resources --verbs=list --namespaced -o name", prints: [/^pods$/m, /^deployments\.apps$/m] },
  { run: "api-resources --api-group=apps", prints: [/^deployments +deploy +apps\/v1 +true +Deployment$/m] },
  { run: "get --raw /", prints: [/"paths"/, /"\/apis\/apps\/v1"/, /"\/healthz"/, /"\/version"/] },
  { run: "get --raw /readyz?verbose", prints: [/^\[\+\]ping ok$/m, /^readyz check passed$/m] },
  { run: "get --raw /apis/apps/v1", prints: [/"kind":"APIResourceList"/] },
  {
    run: "get --raw /nope",
    code: 1,
    prints: [/^Error from server \(NotFound\): the server could not find the requested resource$/m]
  },
  { run: "auth can-i create pods", prints: [/^yes$/m] },
  {
    run: "auth can-i --list",
    prints: [
      /^\*\.\* +\[\] +\[\] +\[\*\]$/m,
      /^ +\[\*\] +\[\] +\[\*\]$/m,
      /^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m
    ]
  },
  { run: "auth can-i delete nodes --as=system:serviceaccount:{namespace}:default", code: 1, prints: [/^no$/m] },
  { run: "auth whoami", prints: [/^Username +\S+$/m, /^Groups +\[system:masters /m], client: 27, isNew: true },
  { run: "events --for deployment/web", prints: [/ScalingReplicaSet/], client: 23 }
]

const applying: ReadonlyArray<Step> = [
  { run: "diff -f -", input: settings("blue") },
  { run: "diff -f -", input: settings("green"), code: 1, prints: [/^- +color: blue$/m, /^\+ +color: green$/m] },
  { run: "diff --server-side -f -", input: settings("green"), code: 1, prints: [/^\+ +color: green$/m] },
  {
    run: "apply -f -",
    input: objects("2Gi"),
    code: 1,
    prints: [/spec: Forbidden: spec is immutable after creation except resources\.requests/]
  },
  { run: "apply --server-side -f -", input: settings("blue"), prints: [/configmap\/settings serverside-applied/] },
  {
    run: "apply --server-side --field-manager=other -f -",
    input: settings("red"),
    code: 1,
    prints: [/Apply failed with \d conflicts?: conflicts? with "kubectl/, /\.data\.color/]
  },
  {
    run: "apply --server-side --field-manager=other --force-conflicts -f -",
    input: settings("red"),
    prints: [/serverside-applied/]
  },
  { run: "get configmap settings -o jsonpath={.data.color}", prints: [/^red$/] },
  // The annotation of kubectl's client-side apply follows its server-side apply.
  { run: "apply --server-side --force-conflicts -f -", input: settings("pink"), prints: [/serverside-applied/] },
  { run: "apply view-last-applied configmap/settings", prints: [/color: pink/] }
]

const rolling: ReadonlyArray<Step> = [
  { run: "set image deployment/web web=example.test/web:2" },
  { run: "rollout status deployment/web --timeout=60s", prints: [/successfully rolled out/] },
  { run: "rollout history deployment/web", prints: [/^1 +<none>\n2 +<none>$/m] },
  { run: "rollout undo deployment/web", prints: [/rolled back/] },
  {
    run: "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}",
    prints: [/^example\.test\/web:1$/]
  },
  { run: "rollout restart deployment/web", prints: [/restarted/] },
  { run: "rollout status deployment/web --timeout=60s", prints: [/successfully rolled out/] },
  {
    run: "scale deployment/web --current-replicas=9 --replicas=3",
    code: 1,
    prints: [/Expected replicas to be 9, was 2/]
  },
  { run: "scale deployment/web --replicas=3", prints: [/scaled/] },
  { run: "scale job/once --replicas=2", code: 1, prints: [/the server could not find the requested resource/] },
  { run: "rollout status deployment/web --timeout=60s", prints: [/successfully rolled out/] },
  { run: "label pod {pod} tier=front", prints: [/labeled/] },
  {
    run: "label pod {pod} tier=back",
    code: 1,
    prints: [/'tier' already has a value \(front\), and --overwrite is false/]
  },
  { run: "get pods -l tier=front -L tier --no-headers", prints: [/ front$/m] },
  { run: "label pod {pod} tier-", prints: [/unlabeled/] },
  { run: "annotate deployment/web note=yes", prints: [/annotated/] }
]

const debugging: ReadonlyArray<Step> = [
  { run: "create token default", prints: [/^[\w-]+\.[\w-]+\.[\w-]+$/m], client: 24 },
  {
    run: "create token default --bound-object-kind=Pod --bound-object-name={pod}",
    prints: [/^[\w-]+\.[\w-]+\.[\w-]+$/m],
    isNew: true,
    client: 24
  },
  { run: "debug {pod} --image=example.test/debug:1 --container=looking --profile=general", isNew: true, client: 27 },
  {
    run: "get pod -l app=web -o jsonpath={.items[*].spec.ephemeralContainers[*].name}",
    prints: [/^looking$/],
    isNew: true,
    client: 27
  },
  { run: "debug {pod} --image=example.test/debug:1 --copy-to=copy --container=looking --profile=general", client: 27 },
  {
    run: "debug node/{node} --image=example.test/debug:1 --profile=general",
    prints: [/Creating debugging pod node-debugger-/],
    client: 27
  },
  { run: "delete pod copy --wait=false" }
]

const machines: ReadonlyArray<Step> = [
  { run: "cordon {node}", prints: [/^node\/\S+ cordoned$/m] },
  {
    run: "drain {node} --ignore-daemonsets --dry-run=server",
    code: 1,
    prints: [/cannot delete .*Pods that declare no controller/]
  },
  {
    run: "drain {node} --ignore-daemonsets --force --timeout=60s --pod-selector=app=web",
    prints: [/^pod\/web-\S+ evicted$/m, /^node\/\S+ (drained|evicted)$/m]
  },
  { run: "uncordon --selector=kubernetes.io/os=linux", prints: [/^node\/\S+ uncordoned$/m] },
  { run: "taint node worker-1 key=a:NoSchedule", prints: [/tainted/] },
  { run: "taint node worker-1 key=b:NoSchedule", code: 1, prints: [/already has .*--overwrite is false/] },
  { run: "taint node worker-1 key=b:NoSchedule --overwrite", prints: [/modified/] },
  { run: "taint node worker-1 key-", prints: [/untainted/] },
  { run: "rollout status deployment/web --timeout=60s", prints: [/successfully rolled out/] },
  { run: "delete deployment web --cascade=orphan", prints: [/deleted/] },
  { run: "get replicaset -l app=web -o name", prints: [/replicaset\.apps\/web-/] },
  { run: "delete replicaset,pod,job,hpa --all --now", prints: [/deleted/] }
]

const all = [...setUp, ...describing, ...waiting, ...discovering, ...applying, ...rolling, ...debugging, ...machines]

export const everyday: Scenario = Effect.fnUntraced(function* ({ namespace, ok, run }, server) {
  for (const step of all) {
    if ((step.isNew === true && server !== "present") || Kubectl.minor < (step.client ?? 0)) continue
    let line = step.run.replace("{namespace}", namespace)
    if (/\{(pod|node)\}/.test(line)) {
      // One that is not being deleted.
      const lines = yield* ok([
        "get",
        "pods",
        "-l",
        "app=web",
        "-o",
        'jsonpath={range .items[*]}{.metadata.deletionTimestamp}|{.metadata.name}|{.spec.nodeName}{"\\n"}{end}'
      ])
      const [, pod = "", node = ""] =
        lines
          .split("\n")
          .find((one) => one.startsWith("|"))
          ?.split("|") ?? []
      line = line.replace("{pod}", pod).replace("{node}", node)
    }
    const { code: expected = 0, input, isRepeated = false, prints = [] } = step
    const once = Effect.gen(function* () {
      const { code, stderr, stdout } = yield* run(line, input === undefined ? {} : { input: JSON.stringify(input) })
      const said = stdout + stderr
      const isAsExpected = code === expected && prints.every((pattern) => pattern.test(said))
      if (!isRepeated) assert.isTrue(isAsExpected, `kubectl ${line} ends with ${code}, and prints\n${said}`)
      return isAsExpected
    }).pipe(Effect.scoped)
    yield* isRepeated ? eventually(`kubectl ${line} prints ${prints.join(" ")}`, once) : once
  }
})
