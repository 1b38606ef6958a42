/** Ordinary manifests of applications that run on, as tutorials show them, and what kubectl waits for when they are up. */
import type { Manifest } from "./Manifest.ts"

export const workloads: ReadonlyArray<Manifest> = [
  {
    name: "deployment",
    up: ["rollout status deployment/nginx", "wait endpoints/nginx --for=jsonpath={.subsets[0].addresses[2].ip}"],
    yaml: `
apiVersion: apps/v1
kind: Deployment
metadata: { name: nginx, labels: { app: nginx } }
spec:
  replicas: 3
  selector: { matchLabels: { app: nginx } }
  template:
    metadata: { labels: { app: nginx } }
    spec:
      containers: [{ name: nginx, image: "nginx:1.27", ports: [{ containerPort: 80 }] }]
---
apiVersion: v1
kind: Service
metadata: { name: nginx }
spec: { selector: { app: nginx }, ports: [{ port: 80, targetPort: 80 }] }
`
  },
  {
    name: "statefulset",
    up: ["rollout status statefulset/web", "wait pvc/www-web-1 --for=jsonpath={.status.phase}=Bound"],
    // A StatefulSet leaves its claims.
    left: ["delete pvc --all"],
    yaml: `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { clusterIP: None, selector: { app: web }, ports: [{ name: web, port: 80 }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: web }
spec:
  serviceName: web
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 10
      containers:
        - name: web
          image: registry.k8s.io/nginx-slim:0.24
          volumeMounts: [{ name: www, mountPath: /usr/share/nginx/html }]
  volumeClaimTemplates:
    - metadata: { name: www }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`
  },
  {
    name: "daemonset",
    up: ["rollout status daemonset/fluentd", "wait daemonset/fluentd --for=jsonpath={.status.numberReady}=3"],
    yaml: `
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: fluentd }
spec:
  selector: { matchLabels: { name: fluentd } }
  template:
    metadata: { labels: { name: fluentd } }
    spec:
      tolerations: [{ key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule }]
      containers:
        - name: fluentd
          image: fluent/fluentd:v1.17
          resources: { limits: { memory: 200Mi }, requests: { cpu: 100m, memory: 200Mi } }
          volumeMounts: [{ name: varlog, mountPath: /var/log }]
      volumes: [{ name: varlog, hostPath: { path: /var/log } }]
`
  },
  {
    name: "init-containers",
    up: ["wait pod/app --for=condition=Ready"],
    yaml: `
apiVersion: v1
kind: Pod
metadata: { name: app, labels: { app: app } }
spec:
  containers: [{ name: app, image: "busybox:1.28", command: [sh, -c, "echo The app is running! && sleep 3600"] }]
  initContainers:
    - name: init-service
      image: busybox:1.28
      command: [sh, -c, "until nslookup service.default.svc; do echo waiting; sleep 2; done"]
    - name: init-plain
      image: example.test/migrate:1.0
`
  },
  {
    name: "sidecar",
    up: ["rollout status deployment/app", "wait pods -l app=app --for=condition=Ready"],
    yaml: `
apiVersion: apps/v1
kind: Deployment
metadata: { name: app }
spec:
  replicas: 1
  selector: { matchLabels: { app: app } }
  template:
    metadata: { labels: { app: app } }
    spec:
      containers:
        - name: app
          image: alpine:latest
          command: [sh, -c, "while true; do echo logging >> /opt/logs.txt; sleep 1; done"]
          volumeMounts: [{ name: data, mountPath: /opt }]
      initContainers:
        - name: logshipper
          image: alpine:latest
          restartPolicy: Always
          command: [sh, -c, "tail -F /opt/logs.txt"]
          volumeMounts: [{ name: data, mountPath: /opt }]
      volumes: [{ name: data, emptyDir: {} }]
`
  },
  {
    name: "probes",
    up: ["wait pod/goproxy --for=condition=Ready"],
    yaml: `
apiVersion: v1
kind: Pod
metadata: { name: goproxy }
spec:
  containers:
    - name: goproxy
      image: registry.k8s.io/goproxy:0.1
      ports: [{ containerPort: 8080 }]
      startupProbe: { httpGet: { path: /healthz, port: 8080 }, failureThreshold: 30, periodSeconds: 1 }
      readinessProbe: { tcpSocket: { port: 8080 }, initialDelaySeconds: 3, periodSeconds: 2 }
      livenessProbe: { tcpSocket: { port: 8080 }, initialDelaySeconds: 15, periodSeconds: 10 }
`
  },
  {
    name: "affinity-and-spread",
    up: ["rollout status deployment/cache"],
    yaml: `
apiVersion: apps/v1
kind: Deployment
metadata: { name: cache }
spec:
  replicas: 2
  selector: { matchLabels: { app: store } }
  template:
    metadata: { labels: { app: store } }
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: { matchLabels: { app: store } }
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{ matchExpressions: [{ key: kubernetes.io/os, operator: In, values: [linux] }] }]
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector: { matchLabels: { app: store } }
              topologyKey: kubernetes.io/hostname
      containers: [{ name: redis, image: "redis:7-alpine" }]
`
  },
  {
    name: "guestbook",
    up: [
      "rollout status deployment/redis-leader",
      "rollout status deployment/frontend",
      "wait service/frontend --for=jsonpath={.status.loadBalancer.ingress[0].ip}"
    ],
    yaml: `
apiVersion: apps/v1
kind: Deployment
metadata: { name: redis-leader }
spec:
  replicas: 1
  selector: { matchLabels: { app: redis, role: leader } }
  template:
    metadata: { labels: { app: redis, role: leader } }
    spec:
      containers: [{ name: leader, image: "docker.io/redis:6.0.5", ports: [{ containerPort: 6379 }] }]
---
apiVersion: v1
kind: Service
metadata: { name: redis-leader }
spec: { selector: { app: redis, role: leader }, ports: [{ port: 6379 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: frontend }
spec:
  replicas: 3
  selector: { matchLabels: { app: guestbook, tier: frontend } }
  template:
    metadata: { labels: { app: guestbook, tier: frontend } }
    spec:
      containers:
        - name: php-redis
          image: gb-frontend:v5
          env: [{ name: GET_HOSTS_FROM, value: dns }]
          resources: { requests: { cpu: 100m, memory: 100Mi } }
          ports: [{ containerPort: 80 }]
---
apiVersion: v1
kind: Service
metadata: { name: frontend }
spec: { type: LoadBalancer, selector: { app: guestbook, tier: frontend }, ports: [{ port: 80 }] }
`
  },
  {
    name: "autoscaler",
    up: ["rollout status deployment/php-apache", "get hpa php-apache"],
    yaml: `
apiVersion: apps/v1
kind: Deployment
metadata: { name: php-apache }
spec:
  selector: { matchLabels: { run: php-apache } }
  template:
    metadata: { labels: { run: php-apache } }
    spec:
      containers:
        - name: php-apache
          image: registry.k8s.io/hpa-example
          ports: [{ containerPort: 80 }]
          resources: { limits: { cpu: 500m }, requests: { cpu: 200m } }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: php-apache }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: php-apache }
  minReplicas: 1
  maxReplicas: 10
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } } }]
`
  },
  {
    name: "disruption-budget",
    up: ["rollout status deployment/zookeeper", "wait pdb/zookeeper --for=jsonpath={.status.disruptionsAllowed}=1"],
    yaml: `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: zookeeper }
spec: { minAvailable: 2, selector: { matchLabels: { app: zookeeper } } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: zookeeper }
spec:
  replicas: 3
  selector: { matchLabels: { app: zookeeper } }
  template:
    metadata: { labels: { app: zookeeper } }
    spec:
      containers: [{ name: zookeeper, image: "zookeeper:3.9" }]
`
  }
]
