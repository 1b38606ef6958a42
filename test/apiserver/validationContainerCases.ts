/** Invalid containers: resources, messages, security contexts and mounts. */
import { container, inContainer, newer, pod, printed } from "./validationCase.ts"
import type { Case, Part } from "./validationCase.ts"

const secured = (name: string, securityContext: Part, differs?: string): Case =>
  inContainer(`security: ${name}`, { securityContext }, differs)
const podSecured = (name: string, securityContext: Part, differs?: string, more: Part = {}): Case =>
  pod(`security of all: ${name}`, { securityContext, ...more }, undefined, differs)

const securityCases: ReadonlyArray<Case> = [
  secured("negative ids", { runAsUser: -1, runAsGroup: -1 }),
  secured("ids above all", { runAsUser: 2147483648, runAsGroup: 2147483648 }),
  secured("privileged without escalation", { privileged: true, allowPrivilegeEscalation: false }, printed),
  secured(
    "all capabilities without escalation",
    { capabilities: { add: ["CAP_SYS_ADMIN"] }, allowPrivilegeEscalation: false },
    printed
  ),
  secured("proc mount", { procMount: "Some" }, newer),
  secured("seccomp without a type", { seccompProfile: {} }),
  secured("seccomp of a strange type", { seccompProfile: { type: "Loose" } }),
  secured("seccomp without a file", { seccompProfile: { type: "Localhost" } }),
  secured(
    "seccomp with a file of nothing",
    { seccompProfile: { type: "RuntimeDefault", localhostProfile: "x" } },
    printed
  ),
  secured("seccomp of a path upwards", { seccompProfile: { type: "Localhost", localhostProfile: "../x" } }, newer),
  secured("windows credentials", { windowsOptions: { gmsaCredentialSpecName: "A_", runAsUserName: "a\\b\\c" } }),
  secured("windows user", { windowsOptions: { runAsUserName: "" } }),
  podSecured("negative ids", { runAsUser: -1, runAsGroup: -1, fsGroup: -1, supplementalGroups: [1, -1] }),
  podSecured("policy of the group", { fsGroup: 1, fsGroupChangePolicy: "Sometimes" }),
  podSecured("seccomp without a file", { seccompProfile: { type: "Localhost" } }),
  podSecured(
    "sysctls",
    {
      sysctls: [
        { name: "kernel.shm_rmid_forced", value: "0" },
        { name: "A B", value: "" },
        { name: "", value: "" },
        { name: "kernel.shm_rmid_forced", value: "1" }
      ]
    },
    newer
  ),
  podSecured("processes of host and pod", {}, undefined, { hostPID: true, shareProcessNamespace: true }),
  podSecured("apparmor", { appArmorProfile: { type: "Localhost" } }, newer)
]

const probes = (name: string, probe: Part, differs?: string): Case =>
  inContainer(`probe: ${name}`, { readinessProbe: probe }, differs)
const get = { port: 80 }

const handlerCases: ReadonlyArray<Case> = [
  probes("of no kind", { periodSeconds: 5 }),
  probes("of two kinds", { exec: { command: ["true"] }, httpGet: get }),
  probes("without a command", { exec: { command: [] } }),
  probes("of port 0", { tcpSocket: { port: 0 } }),
  probes("of a bad port name", { httpGet: { port: "A_" } }),
  probes("of a bad scheme", { httpGet: { port: 80, scheme: "GOPHER" } }),
  probes("with a header of a bad name", { httpGet: { port: 80, httpHeaders: [{ name: "a b", value: "c" }] } }),
  probes("with negative numbers", {
    exec: { command: ["true"] },
    initialDelaySeconds: -1,
    timeoutSeconds: -1,
    periodSeconds: -1,
    successThreshold: -1,
    failureThreshold: -1
  }),
  probes("of grpc's port", { grpc: { port: 70000 } }, newer),
  probes("with a grace", { exec: { command: ["true"] }, terminationGracePeriodSeconds: 5 }, newer),
  inContainer("liveness: two successes", { livenessProbe: { exec: { command: ["true"] }, successThreshold: 2 } }),
  inContainer(
    "liveness: no grace",
    { livenessProbe: { exec: { command: ["true"] }, terminationGracePeriodSeconds: 0 } },
    newer
  ),
  inContainer("startup: two successes", { startupProbe: { tcpSocket: get, successThreshold: 2 } }),
  inContainer("hook: of no kind", { lifecycle: { postStart: {} } }),
  inContainer("hook: of two kinds", { lifecycle: { preStop: { exec: { command: ["a"] }, tcpSocket: get } } }),
  inContainer("hook: without a command", { lifecycle: { postStart: { exec: {} } } }),
  inContainer("hook: of a bad port", { lifecycle: { preStop: { httpGet: { port: 70000 } } } }),
  inContainer("hook: a long sleep", { lifecycle: { preStop: { sleep: { seconds: 31 } } } }, newer)
]

const disk = { name: "disk", emptyDir: {} }
const mounting = (name: string, ...volumeMounts: ReadonlyArray<Part>): Case =>
  pod(`mount: ${name}`, { volumes: [disk], containers: [container({ volumeMounts })] })
const mount = { name: "disk", mountPath: "/x" }
const blocks = { volumes: [{ name: "raw", persistentVolumeClaim: { claimName: "c" } }, disk] }

const mountCases: ReadonlyArray<Case> = [
  mounting("of no name", { mountPath: "/x" }),
  mounting("of no volume", { name: "none", mountPath: "/x" }),
  mounting("nowhere", { name: "disk" }),
  mounting("twice in one place", mount, mount),
  mounting("of an absolute part", { ...mount, subPath: "/a" }),
  mounting("of a part upwards", { ...mount, subPath: "a/../b" }),
  mounting("of two parts", { ...mount, subPath: "a", subPathExpr: "b" }),
  mounting("of a strange propagation", { ...mount, mountPropagation: "Up" }),
  mounting("that goes both ways without a privilege", { ...mount, mountPropagation: "Bidirectional" }),
  pod(
    "device: of no claim",
    {
      ...blocks,
      containers: [container({ volumeDevices: [{ name: "disk", devicePath: "/x" }] })]
    },
    undefined,
    newer
  ),
  pod("device: nowhere", { ...blocks, containers: [container({ volumeDevices: [{ name: "raw" }] })] }),
  pod("device: upwards and of nothing", {
    ...blocks,
    containers: [
      container({
        volumeDevices: [
          { name: "", devicePath: "a/.." },
          { name: "none", devicePath: "/y" }
        ]
      })
    ]
  }),
  pod("device: mounted too", {
    ...blocks,
    containers: [
      container({
        volumeDevices: [{ name: "raw", devicePath: "/x" }],
        volumeMounts: [{ name: "raw", mountPath: "/x" }]
      })
    ]
  })
]

const referring = (name: string, valueFrom: Part, differs?: string): Case =>
  inContainer(`env: ${name}`, { env: [{ name: "A", valueFrom }] }, differs)

const environmentCases: ReadonlyArray<Case> = [
  referring("a field nobody knows", { fieldRef: { fieldPath: "spec.nothing" } }),
  referring("a field of another version", { fieldRef: { apiVersion: "v9", fieldPath: "metadata.name" } }),
  referring("a label of no name", { fieldRef: { fieldPath: "metadata.labels['a b']" } }),
  referring("all labels", { fieldRef: { fieldPath: "metadata.labels" } }, newer),
  referring("no resource", { resourceFieldRef: { containerName: "main" } }),
  referring("a resource nobody knows", { resourceFieldRef: { resource: "limits.coffee" } }),
  referring("a strange divisor", { resourceFieldRef: { resource: "limits.cpu", divisor: "3" } }),
  inContainer("env: a bad source", { envFrom: [{ prefix: "1a", configMapRef: { name: "A_" } }, { secretRef: {} }] })
]

export const containerCases: ReadonlyArray<Case> = [
  ...securityCases,
  ...handlerCases,
  ...mountCases,
  ...environmentCases,
  pod("ephemeral container at once", { ephemeralContainers: [{ name: "debug", image: "d:1" }] }, undefined, newer)
]
