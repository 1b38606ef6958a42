/** Invalid pods. */
import { container, inContainer, newer, plain, pod, podSpec, pods } from "./validationCase.ts"
import type { Case } from "./validationCase.ts"

export const podCases: ReadonlyArray<Case> = [
  pod("no containers", { containers: [] }),
  plain("pod: no spec", pods, {}),
  pod("two containers of one name", { containers: [container(), container()] }),
  pod("a container without a name", { containers: [{ image: "web:1" }] }),
  pod("a container without an image", { containers: [{ name: "main" }] }),
  inContainer("a name that is no label", { name: "Main_1" }),
  inContainer("port 0", { ports: [{ containerPort: 0 }] }),
  inContainer("port 70000", { ports: [{ containerPort: 70000 }] }),
  inContainer("host port 70000", { ports: [{ containerPort: 1, hostPort: 70000 }] }),
  inContainer("protocol HTTP", { ports: [{ containerPort: 80, protocol: "HTTP" }] }),
  inContainer("ports of one name", {
    ports: [
      { name: "a", containerPort: 80 },
      { name: "a", containerPort: 81 }
    ]
  }),
  inContainer("a long port name", { ports: [{ name: "much-too-long-for-a-port", containerPort: 80 }] }),
  inContainer("a port name in capitals", { ports: [{ name: "HTTP", containerPort: 80 }] }),
  inContainer("a port name of digits", { ports: [{ name: "80", containerPort: 80 }] }),
  inContainer("pull policy Sometimes", { imagePullPolicy: "Sometimes" }),
  inContainer("termination message policy", { terminationMessagePolicy: "Nowhere" }),
  inContainer("env without a name", { env: [{ value: "x" }] }),
  inContainer("env of a bad name", { env: [{ name: "1 a" }] }),
  inContainer("env from nothing", { env: [{ name: "A", valueFrom: {} }] }),
  inContainer("env from a secret without a key", { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s" } } }] }),
  inContainer("env with two sources of truth", {
    env: [{ name: "A", value: "1", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }]
  }),
  inContainer("envFrom nothing", { envFrom: [{}] }),
  inContainer("a mount of nothing", { volumeMounts: [{ name: "none", mountPath: "/x" }] }),
  pod("mounts of one path", {
    volumes: [{ name: "v" }],
    containers: [
      container({
        volumeMounts: [
          { name: "v", mountPath: "/x" },
          { name: "v", mountPath: "/x" }
        ]
      })
    ]
  }),
  pod("volumes of one name", { volumes: [{ name: "v" }, { name: "v" }] }),
  pod("a volume without a name", { volumes: [{ emptyDir: {} }] }),
  pod("a volume of two kinds", { volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }] }),
  pod("a claim without a name", { volumes: [{ name: "v", persistentVolumeClaim: {} }] }),
  pod("a secret without a name", { volumes: [{ name: "v", secret: {} }] }),
  inContainer("negative cpu", { resources: { limits: { cpu: "-1" } } }),
  inContainer("requests above limits", {
    resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1500m", memory: "1Gi" } }
  }),
  inContainer("an unknown resource", { resources: { limits: { coffee: "1" } } }),
  inContainer("an extended resource with other requests", {
    resources: { limits: { "a.b/gpu": "2" }, requests: { "a.b/gpu": "1" } }
  }),
  inContainer("a probe without a handler", { livenessProbe: {} }),
  inContainer("a probe with two handlers", {
    readinessProbe: { exec: { command: ["a"] }, httpGet: { port: 80 } }
  }),
  inContainer("a probe with negative times", {
    readinessProbe: { exec: { command: ["a"] }, initialDelaySeconds: -1, periodSeconds: -2 }
  }),
  inContainer("a liveness probe that wants two successes", {
    livenessProbe: { exec: { command: ["a"] }, successThreshold: 2 }
  }),
  inContainer("a probe of port 0", { livenessProbe: { httpGet: { port: 0 } } }),
  inContainer("a probe of no command", { livenessProbe: { exec: {} } }),
  inContainer("a probe of another scheme", { livenessProbe: { httpGet: { port: 1, scheme: "FTP" } } }),
  inContainer("a hook without a handler", { lifecycle: { preStop: {} } }),
  pod("restart policy", { restartPolicy: "Maybe" }),
  pod("dns policy", { dnsPolicy: "Maybe" }),
  pod("deadline 0", { activeDeadlineSeconds: 0 }),
  pod("node selector", { nodeSelector: { "a b": "c d" } }),
  pod("host name", { hostname: "A.b" }),
  pod("node name", { nodeName: "A_b" }),
  pod("account name", { serviceAccountName: "A_b" }),
  pod("priority class name", { priorityClassName: "nowhere" }),
  pod("toleration without a key", { tolerations: [{ effect: "NoSchedule" }] }),
  pod("toleration operator", { tolerations: [{ key: "a", operator: "Like" }] }),
  pod("toleration effect", { tolerations: [{ key: "a", effect: "Never" }] }),
  pod("toleration seconds", { tolerations: [{ key: "a", effect: "NoSchedule", tolerationSeconds: 1 }] }),
  pod("init container of the same name", { initContainers: [container()] }),
  pod("affinity without terms", {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } }
  }),
  pod("affinity without a topology", {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } }
  }),
  pod("host network and another host port", {
    hostNetwork: true,
    containers: [container({ ports: [{ containerPort: 80, hostPort: 81 }] })]
  }),
  pod("spread", { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "Maybe" }] }),
  pod("many errors at once", { containers: [{}], restartPolicy: "No" }),
  plain("pod: bad labels", pods, { metadata: { name: "labels", labels: { "a b": "c d" } }, spec: podSpec() }),
  pod("update of the image", {}, { spec: { containers: [container({ image: "web:2" })] } }),
  pod("update of the command", {}, { spec: { containers: [container({ args: ["x"] })] } }, newer),
  pod("update of the node", {}, { spec: { nodeName: "n" } }, newer),
  pod("update adds a container", {}, { spec: { containers: [container(), container({ name: "b" })] } }),
  pod("update adds a toleration", {}, { spec: { tolerations: [{ key: "a", operator: "Exists" }] } }),
  pod("update of the deadline", { activeDeadlineSeconds: 10 }, { spec: { activeDeadlineSeconds: 20 } }),
  pod("update without the deadline", { activeDeadlineSeconds: 10 }, { spec: { activeDeadlineSeconds: null } })
]
