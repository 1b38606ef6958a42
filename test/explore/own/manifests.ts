/** Objects that several explorations have in common. */
import type { Pod } from "../../../src/kube/resources.ts"

/** The name of what most scenarios change. */
export const web = { namespace: "default", name: "web" }

export const labels = { app: "web" }

/** The pods have a node from the start, so a deletion takes until the kubelet confirms it. */
export const podSpec = (version = 1) => ({
  nodeName: "n1",
  containers: [{ name: "main", image: `example.test/web:${version}` }]
})

export const template = (version = 1, annotations: object = {}) => ({
  metadata: { labels, annotations },
  spec: podSpec(version)
})

/** Neither ended nor being deleted. */
export const isActive = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed"
