/** Ordinary manifests of work that ends, of configuration, storage, networking and policy, as tutorials show them. */
import type { Manifest } from "./Manifest.ts"

export const others: ReadonlyArray<Manifest> = [
  {
    name: "job",
    up: ["wait job/pi --for=condition=complete", "wait pods -l job-name=pi --for=jsonpath={.status.phase}=Succeeded"],
    yaml: `
apiVersion: batch/v1
kind: Job
metadata: { name: pi }
spec:
  backoffLimit: 4
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: pi, image: "perl:5.34.0", command: [perl, -Mbignum=bpi, -wle, "print bpi(2000)"] }]
`
  },
  {
    name: "indexed-job",
    up: ["wait job/indexed --for=condition=complete", "wait job/indexed --for=jsonpath={.status.completedIndexes}=0-4"],
    yaml: `
apiVersion: batch/v1
kind: Job
metadata: { name: indexed }
spec:
  completions: 5
  parallelism: 3
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      initContainers: [{ name: input, image: "docker.io/library/bash", command: [bash, -c, "items=(foo bar); echo $items"] }]
      containers: [{ name: worker, image: docker.io/library/busybox, command: [rev, /input/data.txt] }]
`
  },
  {
    name: "cronjob",
    up: ["create job --from=cronjob/hello now", "wait job/now --for=condition=complete", "delete job/now"],
    yaml: `
apiVersion: batch/v1
kind: CronJob
metadata: { name: hello }
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - name: hello
              image: busybox:1.28
              imagePullPolicy: IfNotPresent
              command: [/bin/sh, -c, date; echo Hello from the Kubernetes cluster]
`
  },
  {
    name: "configuration",
    up: ["wait pod/reader --for=condition=Ready"],
    yaml: `
apiVersion: v1
kind: ConfigMap
metadata: { name: game }
data: { lives: "3", game.properties: "enemy.types=aliens" }
---
apiVersion: v1
kind: Secret
metadata: { name: login }
stringData: { username: admin, password: t0p-Secret }
---
apiVersion: v1
kind: Pod
metadata: { name: reader }
spec:
  containers:
    - name: reader
      image: alpine
      command: [sleep, "3600"]
      env:
        - { name: LIVES, valueFrom: { configMapKeyRef: { name: game, key: lives } } }
        - { name: PASSWORD, valueFrom: { secretKeyRef: { name: login, key: password } } }
      envFrom: [{ secretRef: { name: login } }]
      volumeMounts: [{ name: config, mountPath: /config, readOnly: true }]
  volumes: [{ name: config, configMap: { name: game, items: [{ key: game.properties, path: game.properties }] } }]
`
  },
  {
    name: "volume",
    up: [
      "wait pvc/task --for=jsonpath={.status.phase}=Bound",
      "wait pvc/task --for=jsonpath={.spec.volumeName}=task",
      "wait pod/task --for=condition=Ready"
    ],
    yaml: `
apiVersion: v1
kind: PersistentVolume
metadata: { name: task, labels: { type: local } }
spec:
  storageClassName: manual
  capacity: { storage: 10Gi }
  accessModes: [ReadWriteOnce]
  hostPath: { path: /mnt/data }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: task }
spec: { storageClassName: manual, accessModes: [ReadWriteOnce], resources: { requests: { storage: 3Gi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: task }
spec:
  volumes: [{ name: storage, persistentVolumeClaim: { claimName: task } }]
  containers:
    - name: task
      image: nginx
      ports: [{ containerPort: 80, name: http-server }]
      volumeMounts: [{ mountPath: /usr/share/nginx/html, name: storage }]
`
  },
  {
    name: "database",
    up: ["rollout status deployment/mysql", "wait pvc/mysql --for=jsonpath={.status.phase}=Bound"],
    yaml: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: mysql }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 20Gi } } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: mysql }
spec:
  selector: { matchLabels: { app: mysql } }
  strategy: { type: Recreate }
  template:
    metadata: { labels: { app: mysql } }
    spec:
      containers:
        - name: mysql
          image: mysql:9
          env: [{ name: MYSQL_ALLOW_EMPTY_PASSWORD, value: "true" }]
          ports: [{ containerPort: 3306, name: mysql }]
          volumeMounts: [{ name: storage, mountPath: /var/lib/mysql }]
      volumes: [{ name: storage, persistentVolumeClaim: { claimName: mysql } }]
`
  },
  {
    name: "quota-and-limits",
    up: [
      "wait pod/limited --for=condition=Ready",
      "wait pod/limited --for=jsonpath={.spec.containers[0].resources.limits.memory}=512Mi",
      "wait resourcequota/compute --for=jsonpath={.status.used.pods}=1"
    ],
    yaml: `
apiVersion: v1
kind: ResourceQuota
metadata: { name: compute }
spec: { hard: { pods: "4", requests.cpu: "1", requests.memory: 1Gi, limits.cpu: "2", limits.memory: 2Gi } }
---
apiVersion: v1
kind: LimitRange
metadata: { name: defaults }
spec: { limits: [{ type: Container, default: { cpu: 500m, memory: 512Mi }, defaultRequest: { cpu: 250m, memory: 256Mi } }] }
---
apiVersion: v1
kind: Pod
metadata: { name: limited }
spec: { containers: [{ name: limited, image: nginx }] }
`
  },
  {
    name: "network-policy",
    up: ["get networkpolicy db", "wait pod/db --for=condition=Ready"],
    yaml: `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: db }
spec:
  podSelector: { matchLabels: { role: db } }
  policyTypes: [Ingress, Egress]
  ingress:
    - from: [{ ipBlock: { cidr: 172.17.0.0/16, except: [172.17.1.0/24] } }, { podSelector: { matchLabels: { role: frontend } } }]
      ports: [{ protocol: TCP, port: 6379 }]
  egress: [{ to: [{ ipBlock: { cidr: 10.0.0.0/24 } }], ports: [{ protocol: TCP, port: 5978 }] }]
---
apiVersion: v1
kind: Pod
metadata: { name: db, labels: { role: db } }
spec: { containers: [{ name: db, image: "redis:7" }] }
`
  },
  {
    name: "ingress",
    up: ["rollout status deployment/web", "get ingress web"],
    yaml: `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "gcr.io/google-samples/hello-app:1.0" }] }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { type: NodePort, selector: { app: web }, ports: [{ port: 8080 }] }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web }
spec:
  ingressClassName: nginx
  rules:
    - host: hello-world.example
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 8080 } } } }] }
`
  },
  {
    name: "account",
    up: [
      "wait pod/robot --for=condition=Ready",
      "wait pod/robot --for=jsonpath={.spec.serviceAccountName}=robot",
      "auth can-i list pods --as=system:serviceaccount:NAMESPACE:robot"
    ],
    yaml: `
apiVersion: v1
kind: ServiceAccount
metadata: { name: robot }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: pod-reader }
rules: [{ apiGroups: [""], resources: [pods], verbs: [get, watch, list] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: read-pods }
subjects: [{ kind: ServiceAccount, name: robot }]
roleRef: { kind: Role, name: pod-reader, apiGroup: rbac.authorization.k8s.io }
---
apiVersion: v1
kind: Pod
metadata: { name: robot }
spec: { serviceAccountName: robot, containers: [{ name: robot, image: nginx }] }
`
  }
]
