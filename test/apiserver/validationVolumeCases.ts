/** Invalid volumes, of each source. */
import { container, newer, plain, pod } from "./validationCase.ts"
import type { Case, Part } from "./validationCase.ts"

const volume = (name: string, source: Part, differs?: string): Case =>
  pod(`volume: ${name}`, { containers: [container()], volumes: [{ name: "v", ...source }] }, undefined, differs)

const upwards = { key: "k", path: "a/../b" }

/** A source of each kind without its required fields. */
const bare: ReadonlyArray<readonly [kind: string, source: Part, differs?: string]> = [
  ["awsElasticBlockStore", { partition: 300 }],
  ["azureDisk", { cachingMode: "Some", kind: "Odd" }],
  ["azureFile", {}],
  ["cephfs", {}],
  ["cinder", { secretRef: {} }],
  ["configMap", { defaultMode: 512, items: [{ key: "", path: "" }, upwards] }],
  ["csi", { nodePublishSecretRef: {} }],
  ["downwardAPI", { defaultMode: -1, items: [{ path: "/a" }, { path: "b", fieldRef: { fieldPath: "spec.x" } }] }],
  ["emptyDir", { sizeLimit: "-1" }],
  ["fc", {}],
  ["flexVolume", {}],
  ["flocker", {}],
  ["gcePersistentDisk", { partition: -1 }],
  ["gitRepo", { directory: "/a" }],
  ["glusterfs", {}],
  ["hostPath", { path: "/a/../b", type: "Odd" }],
  ["iscsi", { iqn: "odd", lun: 300, chapAuthDiscovery: true }],
  ["nfs", { path: "relative" }],
  ["persistentVolumeClaim", {}],
  ["photonPersistentDisk", {}],
  ["portworxVolume", {}],
  ["projected", { defaultMode: 512, sources: [{}, { secret: {} }, { serviceAccountToken: { expirationSeconds: 5 } }] }],
  ["quobyte", {}],
  ["rbd", {}],
  ["scaleIO", {}],
  ["secret", { defaultMode: 512, items: [upwards] }],
  ["storageos", {}],
  ["vsphereVolume", {}]
]

export const volumeCases: ReadonlyArray<Case> = [
  ...bare.map(([kind, source, differs]) => volume(`a bare ${kind}`, { [kind]: source }, differs)),
  volume("of two kinds", { emptyDir: {}, hostPath: { path: "/x" } }),
  volume("of three kinds", { configMap: { name: "c" }, emptyDir: {}, secret: { secretName: "s" } }),
  volume("a name", { name: "V_", emptyDir: {} }),
  volume("files of one path", {
    projected: {
      sources: [
        { configMap: { name: "a", items: [{ key: "k", path: "p" }] } },
        { secret: { name: "b", items: [{ key: "k", path: "p" }] } }
      ]
    }
  }),
  volume("a projection of two kinds", {
    projected: { sources: [{ configMap: { name: "a" }, secret: { name: "b" } }] }
  }),
  volume("a flocker of two names", { flocker: { datasetName: "a", datasetUUID: "b" } }),
  volume("fibre of both kinds", { fc: { targetWWNs: ["a"], lun: 1, wwids: ["b"] } }),
  volume("fibre without a lun", { fc: { targetWWNs: ["a"] } }),
  volume("claims made for the pod", { ephemeral: {} }, newer),
  volume("claims made for the pod, without a size", { ephemeral: { volumeClaimTemplate: { spec: {} } } }, newer),
  volume("an image", { image: { pullPolicy: "Often" } }, newer)
]

const persistent = (name: string, source: Part, differs?: string): Case =>
  plain(
    `volume of the cluster: ${name}`,
    "api/v1/persistentvolumes",
    { spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, ...source } },
    undefined,
    { clusterScoped: true, ...(differs === undefined ? {} : { differs }) }
  )

/** PersistentVolumes, which have the same sources and more validation. */
export const persistentCases: ReadonlyArray<Case> = [
  persistent("a bare csi", { csi: {} }),
  persistent("a bare local", { local: {} }),
  persistent("local without a node", { local: { path: "/x" } }),
  persistent("a bare nfs", { nfs: {} }),
  persistent("a bare hostPath", { hostPath: {} }),
  persistent("a bare azureFile", { azureFile: {} }),
  persistent("a bare iscsi", { iscsi: {} }),
  persistent("a bare rbd", { rbd: {} }),
  persistent("a bare fc", { fc: {} }),
  persistent("two kinds", { hostPath: { path: "/x" }, nfs: { server: "s", path: "/x" } }),
  persistent("class name", { hostPath: { path: "/x" }, storageClassName: "A_" }),
  persistent("volume mode", { hostPath: { path: "/x" }, volumeMode: "Tape" }),
  persistent("the root of a host, recycled", { hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" })
]
