/** A template that an API server stores in another spelling, so that controllers have to compare templates semantically. */

/** Has fields whose values the server rewrites, and empty fields that it omits. */
export const template = (image: string) => ({
  metadata: { labels: { app: "web" }, annotations: {}, creationTimestamp: null },
  spec: {
    hostNetwork: false,
    containers: [
      {
        name: "main",
        image,
        args: [],
        env: [
          { name: "EMPTY", value: "" },
          { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }
        ],
        resources: { limits: { cpu: "0.5", memory: "1024Ki" }, requests: { cpu: 0.1, memory: "1e6" } },
        securityContext: { runAsUser: 0 }
      }
    ],
    tolerations: [],
    volumes: [
      { name: "a", emptyDir: {} },
      { name: "b", emptyDir: { sizeLimit: "2048Mi" } }
    ]
  }
})
