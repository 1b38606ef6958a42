/** Containers of a pod: what they run, with which resources, how they are probed, and what was observed of them. */
import type { Descriptions } from "./meta.ts"

const container = {
  args: "Arguments of the command. Unset: CMD of the image. $(NAME) is replaced by the environment variable NAME; $$(NAME) stands for the text $(NAME). Cannot be changed in an existing pod.",
  command:
    "The program to run and its first arguments, without a shell. Unset: ENTRYPOINT of the image. $(NAME) is replaced as in args. Cannot be changed in an existing pod.",
  env: "Environment variables. A variable here takes precedence over one of the same name from envFrom. Cannot be changed in an existing pod.",
  envFrom:
    "ConfigMaps and Secrets, all of whose keys become environment variables. If a key occurs twice, the later source counts. Cannot be changed in an existing pod.",
  image:
    "The image, such as nginx:1.29 or registry.example.com/team/web@sha256:…. Without a tag: latest. May be changed in a running pod: the container is then restarted with the new image.",
  imagePullPolicy:
    "When the image is pulled: Always checks the registry at each start, IfNotPresent pulls it only if the node does not have it, Never does not pull. Default: Always with the tag latest, otherwise IfNotPresent.",
  lifecycle:
    "What to run right after the start of the container and before its end. Cannot be changed in an existing pod.",
  livenessProbe:
    "A check of whether the container works. After failureThreshold failures in a row it is restarted. Unset: it is restarted only when its process ends.",
  name: "The name of the container, unique among all containers of the pod. A DNS label. Cannot be changed in an existing pod.",
  ports:
    "Ports that the container listens on. The list informs, and gives ports the names that Services and probes use; ports that are not listed can be reached too.",
  readinessProbe:
    "A check of whether the container can serve requests. While it fails, the pod is not ready and Services send it no traffic; nothing is restarted. Unset: ready as soon as it runs.",
  resizePolicy: "Whether the container is restarted when its cpu or memory is changed while it runs.",
  resources:
    "How much cpu, memory and other resources the container is guaranteed (requests) and may use at most (limits).",
  restartPolicy:
    "When this container is started again after it ended: Always, OnFailure or Never. Unset: restartPolicy of the pod. Always on an init container makes it a sidecar that runs beside the others.",
  restartPolicyRules:
    "Exceptions from restartPolicy by exit code, at most 20. The first rule that matches counts. Needs restartPolicy to be set.",
  securityContext: "User, privileges and protections of the container; they take precedence over those of the pod.",
  startupProbe:
    "A check of whether the container has started. Until it has succeeded, the other probes do not run; after failureThreshold failures the container is restarted. Use it for slow starts.",
  stdin: "Whether an input is kept open for the container, for kubectl attach -i. Default: false.",
  stdinOnce:
    "Whether the input is closed when the first client that attached has gone; the container reads the end of file then. Default: false.",
  terminationMessagePath:
    "The file in the container from which the final message is read, up to 4096 bytes. It appears in the status. Default: /dev/termination-log.",
  terminationMessagePolicy:
    "File (default) uses only that file; FallbackToLogsOnError uses the end of the log if the file is empty and the container failed.",
  tty: "Whether the container gets a terminal; needs stdin. Default: false.",
  volumeDevices: "Block devices that the container uses without a file system, from claims with volumeMode Block.",
  volumeMounts:
    "Where the volumes of the pod appear in the file system of the container. Cannot be changed in an existing pod.",
  workingDir: "The working directory. Unset: that of the image. Cannot be changed in an existing pod."
}

const fileMode = "Permission bits of the file, such as 0440 in YAML or 288 in JSON. Unset: defaultMode of the volume."

export const containers: Descriptions = {
  Container: { "": "A program of the pod, run from an image.", ...container },
  EphemeralContainer: {
    "": "A container that is added to a running pod for debugging. It is never restarted, and cannot have ports, probes, lifecycle or resources.",
    ...container,
    targetContainerName:
      "A container of the pod whose processes the new one sees. Unset: it sees those that all containers of the pod share."
  },
  ContainerPort: {
    "": "A port that a container listens on.",
    containerPort: "The number of the port on the address of the pod: 1 to 65535.",
    hostIP: "The address of the node on which hostPort is opened. Unset: all.",
    hostPort:
      "A port of the node that leads to the container. Each node can then run only one such pod; prefer a Service. With hostNetwork it must equal containerPort.",
    name: "A name for the port, unique in the pod, at most 15 characters. Services and probes may use it in place of the number.",
    protocol: "TCP (default), UDP or SCTP."
  },
  EnvVar: {
    "": "An environment variable: a text, or a reference to where the text comes from.",
    name: "The name of the variable.",
    value:
      "The text. $(NAME) is replaced by the variable NAME if it is defined earlier; $$(NAME) stands for the text $(NAME). Default: empty.",
    valueFrom: "Where the text comes from. Not together with value."
  },
  EnvVarSource: {
    "": "Where the value of a variable comes from; exactly one field is set. It is read when the container starts and does not change afterwards.",
    configMapKeyRef: "A key of a ConfigMap.",
    fieldRef: "A field of the pod itself, such as metadata.name or status.podIP.",
    fileKeyRef: "A variable in a file of a volume, written by an init container.",
    resourceFieldRef: "A request or limit of a container, such as limits.memory.",
    secretKeyRef: "A key of a Secret."
  },
  ConfigMapKeySelector: {
    "": "One key of a ConfigMap.",
    key: "The key.",
    name: "The name of the ConfigMap, in the namespace of the pod.",
    optional:
      "Whether the pod starts without the variable if the ConfigMap or the key is missing. Default: false, it waits."
  },
  SecretKeySelector: {
    "": "One key of a Secret.",
    key: "The key.",
    name: "The name of the Secret, in the namespace of the pod.",
    optional:
      "Whether the pod starts without the variable if the Secret or the key is missing. Default: false, it waits."
  },
  FileKeySelector: {
    "": "A variable in a file of lines NAME=value.",
    key: "The name of the variable in the file.",
    optional: "Whether the container starts without the variable if the file or the key is missing. Default: false.",
    path: "The file, relative to the root of the volume.",
    volumeName: "The volume of the pod that has the file."
  },
  ObjectFieldSelector: {
    "": "A field of the pod.",
    apiVersion: "The version in which fieldPath is written. Default: v1.",
    fieldPath:
      "The path of the field, such as metadata.name, metadata.labels['app'], spec.nodeName, spec.serviceAccountName or status.podIP."
  },
  ResourceFieldSelector: {
    "": "A request or limit of a container, as a number.",
    containerName:
      "The container. Optional for environment variables, which default to their own; required in volumes.",
    divisor: "The unit of the result, such as 1Mi for memory or 1m for cpu; results are rounded up. Default: 1.",
    resource:
      "limits.cpu, limits.memory, requests.cpu, requests.memory, or the same of ephemeral-storage and huge pages. A limit that is not set counts as what the node offers."
  },
  EnvFromSource: {
    "": "A source of several environment variables.",
    configMapRef: "A ConfigMap; each of its keys becomes a variable.",
    prefix: "A text to put before each name.",
    secretRef: "A Secret; each of its keys becomes a variable."
  },
  ConfigMapEnvSource: {
    "": "A ConfigMap with environment variables.",
    name: "The name, in the namespace of the pod.",
    optional: "Whether the pod starts without it if it is missing. Default: false, it waits."
  },
  SecretEnvSource: {
    "": "A Secret with environment variables.",
    name: "The name, in the namespace of the pod.",
    optional: "Whether the pod starts without it if it is missing. Default: false, it waits."
  },
  DownwardAPIVolumeFile: {
    "": "A file with a field of the pod or a resource of a container. Exactly one of fieldRef and resourceFieldRef is set.",
    fieldRef: "A field of the metadata of the pod, such as metadata.labels.",
    mode: fileMode,
    path: "The file, relative to the root of the volume.",
    resourceFieldRef: "A request or limit of a container."
  },
  ResourceRequirements: {
    "": "Requests and limits. Quantities are written as 500m (half a processor), 0.5, 128Mi or 1Gi.",
    claims: "Claims of devices, from resourceClaims of the pod, that the container may use.",
    limits:
      "The most that may be used, by resource. A container above its cpu limit is slowed down; one above its memory limit is killed (OOMKilled). Unset: no limit, unless a LimitRange sets one.",
    requests:
      "What the scheduler sets aside on the node, by resource. Unset: the limit if there is one, otherwise nothing, unless a LimitRange sets it."
  },
  ResourceClaim: {
    "": "A claim of devices that a container uses.",
    name: "The name of an entry in resourceClaims of the pod.",
    request: "One request of that claim. Unset: all of it."
  },
  ContainerResizePolicy: {
    "": "What a change of a resource means for a running container.",
    resourceName: "cpu or memory.",
    restartPolicy: "NotRequired (default) applies the change while the container runs; RestartContainer restarts it."
  },
  ContainerRestartRule: {
    "": "What to do when the container ends in a certain way.",
    action: "Restart starts the container again; RestartAllContainers starts all containers of the pod again.",
    exitCodes: "The exit codes that the rule is for."
  },
  ContainerRestartRuleOnExitCodes: {
    "": "A set of exit codes.",
    operator: "In: the code is one of values. NotIn: it is none of them.",
    values: "The exit codes, at most 255."
  },
  SecurityContext: {
    "": "User, privileges and protections of one container.",
    allowPrivilegeEscalation:
      "Whether a process may gain more privileges than its parent, for example through setuid. Always true if privileged or with CAP_SYS_ADMIN. Default: true.",
    appArmorProfile: "The AppArmor profile. Unset: that of the pod.",
    capabilities: "Linux capabilities to add to and remove from the default set of the container runtime.",
    privileged: "Whether processes have nearly all rights of root on the node. Default: false.",
    procMount:
      "Default hides parts of /proc and makes others read-only; Unmasked does not, and needs hostUsers false. Default: Default.",
    readOnlyRootFilesystem:
      "Whether the file system of the container is read-only; volumes may still be writable. Default: false.",
    runAsGroup: "The primary group (GID). Unset: that of the pod, then that of the image.",
    runAsNonRoot: "If true, the container is not started if it would run as root (UID 0). Unset: that of the pod.",
    runAsUser: "The user (UID). Unset: that of the pod, then that of the image.",
    seLinuxOptions: "The SELinux label. Unset: that of the pod.",
    seccompProfile: "Which system calls the container may make. Unset: that of the pod.",
    windowsOptions: "Settings for Windows. Unset: those of the pod."
  },
  Capabilities: {
    "": "Changes of the set of Linux capabilities.",
    add: "Capabilities to add, without the prefix CAP_, such as NET_BIND_SERVICE.",
    drop: "Capabilities to remove; ALL removes all that are not added."
  },
  Probe: {
    "": "A check that the kubelet repeats. Exactly one of exec, grpc, httpGet and tcpSocket is set.",
    exec: "Runs a command in the container; exit code 0 is success.",
    failureThreshold: "How many failures in a row count as failed. Default: 3; at least 1.",
    grpc: "Calls the gRPC health service; SERVING is success.",
    httpGet: "Sends an HTTP GET; a status of 200 to 399 is success.",
    initialDelaySeconds: "Seconds between the start of the container and the first check. Default: 0.",
    periodSeconds: "Seconds between two checks. Default: 10; at least 1.",
    successThreshold:
      "How many successes in a row count as succeeded after a failure. Default: 1, the only value for liveness and startup.",
    tcpSocket: "Opens a TCP connection; that it opens is success.",
    terminationGracePeriodSeconds:
      "Seconds between SIGTERM and SIGKILL when this probe has failed. Unset: the value of the pod. Not allowed in a readiness probe.",
    timeoutSeconds: "Seconds after which a check without an answer counts as failed. Default: 1; at least 1."
  },
  ExecAction: {
    "": "A command to run in the container.",
    command:
      "The program and its arguments, run in the root folder of the container without a shell; for pipes, run a shell explicitly."
  },
  HTTPGetAction: {
    "": "An HTTP request.",
    host: "The host to connect to. Unset: the address of the pod. To set only the header, use httpHeaders with Host.",
    httpHeaders: "Headers of the request.",
    path: "The path. Default: /.",
    port: "The number of a port, or the name of a port of the container.",
    scheme: "HTTP (default) or HTTPS; certificates are not verified."
  },
  HTTPHeader: { "": "A header of a request.", name: "The name of the header.", value: "The value of the header." },
  TCPSocketAction: {
    "": "A TCP connection.",
    host: "The host to connect to. Unset: the address of the pod.",
    port: "The number of a port, or the name of a port of the container."
  },
  GRPCAction: {
    "": "A call of the gRPC health checking protocol.",
    port: "The number of the port.",
    service: "The name of the service that is asked for in the request. Default: empty."
  },
  Lifecycle: {
    "": "Actions at the start and the end of a container.",
    postStart:
      "Runs right after the container was created, at the same time as its command. If it fails, the container is stopped and restarted.",
    preStop:
      "Runs before the container is stopped on purpose, as when the pod is deleted; SIGTERM follows when it has ended. It counts into terminationGracePeriodSeconds.",
    stopSignal:
      "The signal that stops the container. Unset: that of the image, otherwise SIGTERM. Needs os.name of the pod."
  },
  LifecycleHandler: {
    "": "An action; exactly one field is set.",
    exec: "Runs a command in the container.",
    httpGet: "Sends an HTTP GET.",
    sleep: "Waits.",
    tcpSocket: "Deprecated: not supported for these actions."
  },
  SleepAction: { "": "A wait.", seconds: "How many seconds." },
  ContainerStatus: {
    "": "What was last observed of a container.",
    allocatedResources: "The requests that the node has set aside for the container.",
    allocatedResourcesStatus: "The health of the devices that the container uses.",
    containerID: "The id of the container, as <runtime>://<id>. Empty before the first start.",
    image: "The image that is running; its name may differ from that in the specification.",
    imageID: "The digest or id of the image, as reported by the container runtime.",
    lastState: "How the previous run ended; empty if there was none. kubectl logs --previous prints its log.",
    name: "The name of the container.",
    ready:
      "Whether the container passes its readiness probe; without one, whether it has started. For an init container: whether it has ended well.",
    resources: "The requests and limits that are in effect for the running container.",
    restartCount:
      "How many times the container was restarted. It counts runs that the node still knows, so it may be too low after a clean-up.",
    started: "Whether the container has started and its startup probe has succeeded.",
    state: "What the container does now.",
    stopSignal: "The signal that stops the container.",
    user: "The user and the groups of the first process.",
    volumeMounts: "The volumes that are mounted in the container."
  },
  ContainerState: {
    "": "The state of a container; at most one field is set, and none means waiting.",
    running: "The container is running.",
    terminated: "The container has ended.",
    waiting: "The container has not started yet, or waits for its next start."
  },
  ContainerStateRunning: { "": "A running container.", startedAt: "When this run started." },
  ContainerStateTerminated: {
    "": "A container that has ended.",
    containerID: "The id of the container, as <runtime>://<id>.",
    exitCode: "The exit code; 0 is success, 128 plus a number means that the signal with this number ended it.",
    finishedAt: "When it ended.",
    message: "The final message, from terminationMessagePath.",
    reason: "Why it ended, such as Completed, Error, OOMKilled or ContainerCannotRun.",
    signal: "The signal that ended it, if known.",
    startedAt: "When this run started."
  },
  ContainerStateWaiting: {
    "": "A container that is not running yet.",
    message: "Why it waits, for people.",
    reason: "Why it waits, such as ContainerCreating, ImagePullBackOff, CrashLoopBackOff or CreateContainerConfigError."
  },
  ResourceStatus: {
    "": "The health of the devices behind a resource.",
    name: "The resource, or claim:<claim>/<request>.",
    resources: "The health of each device."
  },
  ResourceHealth: {
    "": "The health of a device.",
    health: "Healthy, Unhealthy or Unknown.",
    message: "Details, for people.",
    resourceID: "The id of the device."
  },
  ContainerUser: { "": "The identity of the first process.", linux: "The identity on Linux." },
  LinuxContainerUser: {
    "": "The user and groups of a process on Linux.",
    gid: "The primary group (GID).",
    supplementalGroups: "The further groups.",
    uid: "The user (UID)."
  }
}
