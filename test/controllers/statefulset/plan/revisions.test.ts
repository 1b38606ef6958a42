/** The revision of a StatefulSet's template, also after a newer API server has set new defaults; and the revisions above the history limit. */
import { assert, describe, it } from "@effect/vitest"
import * as Revisions from "../../../../src/controllers/statefulset/plan/revisions.ts"
import type { ControllerRevision, StatefulSet } from "../../../../src/kube/resources.ts"

const metadata = { labels: { app: "a" } }
const container = { name: "a", image: "a:1" }

/** A template without defaults. */
const bare = (spec: object = {}) => ({ metadata, spec: { containers: [container], ...spec } })

const filled = {
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  imagePullPolicy: "IfNotPresent",
  resources: {}
}

/** The same template with the defaults of a server. */
const stored = (spec: object = {}, main: object = {}) => ({
  metadata,
  spec: {
    containers: [{ ...container, ...filled, ...main }],
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    ...spec
  }
})

const revision = (number: number, template: object): ControllerRevision => ({
  metadata: { name: `r${number}` },
  revision: number,
  data: { spec: { template: { $patch: "replace", ...template } } }
})

const update = (template: object, ...revisions: ReadonlyArray<object>) => {
  const set = { metadata: { name: "web" }, spec: { template } } as unknown as StatefulSet
  const found = Revisions.update(
    set,
    revisions.map((kept, i) => revision(i + 1, kept))
  )
  return found._tag === "New" ? `new ${found.number}` : `${found._tag} ${found.revision.metadata.name}`
}

describe("the revision", () => {
  const init = { name: "i", image: "i:1" }
  const probe = { tcpSocket: { port: 1 } }
  const seconds = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }
  const withInit = (main: object) => stored({ initContainers: [{ ...init, ...filled, ...main }] })
  const withVolume = (volume: object) => stored({ volumes: [{ name: "v", ...volume }] })
  const cases: ReadonlyArray<readonly [title: string, kept: object, template: object, expected: string]> = [
    ["is the newest one with the defaults of a server", bare(), stored(), "Known r1"],
    ["is new if a value differs", bare({ terminationGracePeriodSeconds: 10 }), stored(), "new 2"],
    [
      "is new if the template has a value other than the default that the revision lacks",
      bare(),
      stored({}, { tty: true }),
      "new 2"
    ],
    ["is new with other labels", { ...bare(), metadata: {} }, stored(), "new 2"],
    [
      "is new with another container",
      bare(),
      stored({ containers: [container, { ...container, name: "b" }] }),
      "new 2"
    ],
    ["is new with restartPolicy of an init container", withInit({}), withInit({ restartPolicy: "Always" }), "new 2"],
    [
      "is the newest one with a default of a probe",
      stored({}, { livenessProbe: probe }),
      stored({}, { livenessProbe: { ...probe, ...seconds } }),
      "Known r1"
    ],
    [
      "is new with terminationGracePeriodSeconds of a probe",
      stored({}, { livenessProbe: probe }),
      stored({}, { livenessProbe: { ...probe, ...seconds, terminationGracePeriodSeconds: 30 } }),
      "new 2"
    ],
    ["is new with securityContext of a container", stored(), stored({}, { securityContext: {} }), "new 2"],
    [
      "is the newest one with the mode of a volume",
      withVolume({ secret: { secretName: "s" } }),
      withVolume({ secret: { secretName: "s", defaultMode: 420 } }),
      "Known r1"
    ],
    [
      "is new with defaultMode 0",
      withVolume({ secret: { secretName: "s" } }),
      withVolume({ secret: { secretName: "s", defaultMode: 0 } }),
      "new 2"
    ],
    ["is the newest one with a volume that has no source", withVolume({}), withVolume({ emptyDir: {} }), "Known r1"],
    [
      "is the newest one with the optional flag of a file's key",
      stored({}, { env: [{ name: "e", valueFrom: { fileKeyRef: { key: "k", path: "p", volumeName: "v" } } }] }),
      stored(
        {},
        { env: [{ name: "e", valueFrom: { fileKeyRef: { key: "k", path: "p", volumeName: "v", optional: false } } }] }
      ),
      "Known r1"
    ],
    [
      "is new with the optional flag of a secret's key",
      stored({}, { env: [{ name: "e", valueFrom: { secretKeyRef: { key: "k", name: "s" } } }] }),
      stored({}, { env: [{ name: "e", valueFrom: { secretKeyRef: { key: "k", name: "s", optional: false } } }] }),
      "new 2"
    ]
  ]
  for (const [title, kept, template, expected] of cases)
    it(`of a template ${title}`, () => assert.strictEqual(update(template, kept), expected))

  it("of a template without revisions is new", () => assert.strictEqual(update(stored()), "new 1"))
  it("of a template is the newest one if that is equal", () =>
    assert.strictEqual(update(stored(), stored({ hostNetwork: true }), stored()), "Known r2"))
  it("is an equal older one rather than a newer one that is equal only with defaults", () =>
    assert.strictEqual(update(stored(), stored(), stored({ terminationGracePeriodSeconds: undefined })), "Again r1"))
  it("is not an older one that is equal only with defaults", () =>
    assert.strictEqual(update(stored(), bare(), stored({ hostNetwork: true })), "new 3"))
})

describe("the current revision", () => {
  const kept = [1, 2, 3].map((number) => revision(number, stored()))
  const current = (status?: object) => Revisions.current({ metadata: { name: "web" }, status } as StatefulSet, kept)

  it("is the one that the status names", () => {
    assert.strictEqual(current({ currentRevision: "r2" }), kept[1])
    assert.isUndefined(current({ currentRevision: "r4" }))
    assert.isUndefined(current())
  })
})

describe("the revisions above the history limit", () => {
  const kept = [3, 1, 2, 4].map((number) => revision(number, stored()))
  const excess = (revisionHistoryLimit: number, ...used: ReadonlyArray<string>) => {
    const set = { metadata: { name: "web" }, spec: { revisionHistoryLimit } } as StatefulSet
    return Revisions.excess(set, kept, (name) => used.includes(name)).map(({ metadata }) => metadata.name)
  }

  it("are the oldest ones that are not used", () => {
    assert.deepStrictEqual(excess(3), ["r1"])
    assert.deepStrictEqual(excess(1), ["r1", "r2", "r3"])
    assert.deepStrictEqual(excess(0), ["r1", "r2", "r3", "r4"])
    assert.deepStrictEqual(excess(1, "r1", "r4"), ["r2"])
    assert.deepStrictEqual(excess(0, "r2", "r4"), ["r1", "r3"])
  })

  it("are none at the limit, below it, and with a limit below zero", () => {
    for (const limit of [4, 5, -1]) assert.deepStrictEqual(excess(limit), [])
  })
})
