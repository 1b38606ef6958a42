/** Every place in which a pod can name a Secret. */
import { assert, describe, it } from "@effect/vitest"
import * as PodSecrets from "../../../src/controllers/legacytokencleaner/podSecrets.ts"
import type { Pod } from "../../../src/kube/resources.ts"

type Spec = NonNullable<Pod["spec"]>

const container = (env: string, from: string) => ({
  name: "main",
  env: [
    { name: "A", valueFrom: { secretKeyRef: { name: env, key: "k" } } },
    { name: "B", value: "plain" }
  ],
  envFrom: [{ secretRef: { name: from } }, { configMapRef: { name: "not" } }]
})

const volume = (source: Omit<NonNullable<Spec["volumes"]>[number], "name">) => ({ name: "v", ...source })

const spec: Spec = {
  imagePullSecrets: [{ name: "pull" }, {}],
  initContainers: [container("init-env", "init-from")],
  containers: [container("env", "from")],
  ephemeralContainers: [container("debug-env", "debug-from")],
  volumes: [
    volume({ secret: { secretName: "secret" } }),
    volume({ projected: { sources: [{ secret: { name: "projected" } }, { configMap: { name: "not" } }] } }),
    volume({ azureFile: { secretName: "azure", shareName: "s" } }),
    volume({ cephfs: { monitors: [], secretRef: { name: "cephfs" } } }),
    volume({ cinder: { volumeID: "v", secretRef: { name: "cinder" } } }),
    volume({ csi: { driver: "d", nodePublishSecretRef: { name: "csi" } } }),
    volume({ flexVolume: { driver: "d", secretRef: { name: "flex" } } }),
    volume({ iscsi: { iqn: "i", lun: 0, targetPortal: "t", secretRef: { name: "iscsi" } } }),
    volume({ rbd: { image: "i", monitors: [], secretRef: { name: "rbd" } } }),
    volume({ scaleIO: { gateway: "g", system: "s", secretRef: { name: "scaleio" } } }),
    volume({ storageos: { secretRef: { name: "storageos" } } }),
    volume({ emptyDir: {} })
  ]
}

describe("the Secrets of a pod", () => {
  it("are those that it references in any field", () => {
    const found = PodSecrets.of({ metadata: { name: "p" }, spec }).toSorted()
    assert.deepStrictEqual(
      found,
      `pull init-env init-from env from debug-env debug-from secret projected azure cephfs cinder csi flex iscsi rbd scaleio storageos`
        .split(" ")
        .toSorted()
    )
  })

  it("are none without references", () => {
    assert.deepStrictEqual(PodSecrets.of({ metadata: { name: "p" } }), [])
  })
})
