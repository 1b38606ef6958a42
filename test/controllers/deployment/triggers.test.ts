import { assert, describe, it } from "@effect/vitest"
import * as Triggers from "../../../src/controllers/deployment/triggers.ts"
import * as Indexes from "../../../src/controllers/shared/workload/indexes.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { Deployment, type Pod, ReplicaSet } from "../../../src/kube/resources.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as Store from "../../../src/streams/store/Store.ts"
import { deployment, replicaSet } from "./objects.ts"

const storeOf = <A extends KubeObject>(objects: ReadonlyArray<A>): Store.Store<A> => {
  const store = Store.make<A>()
  for (const { name, of } of Indexes.both) store.addIndex(name, of)
  store.apply({ _tag: "Restarted" })
  store.apply({ _tag: "Listed", objects })
  store.apply({ _tag: "Synced", resourceVersion: "1" })
  return store
}

const named = (name: string, facts: Parameters<typeof deployment>[0] = {}): Deployment => {
  const given = deployment(facts)
  return { ...given, metadata: { ...given.metadata, name, uid: `${name}-uid` } }
}

const controlled = (resource: Resource.Any, owner: KubeObject) => ({
  ownerReferences: [Owner.reference(resource, owner)]
})

const setOf = (name: string, metadata: object): ReplicaSet =>
  replicaSet({ name, metadata: { name, namespace: "ns", uid: `${name}-uid`, labels: { app: "web" }, ...metadata } })

const pod = (name: string, metadata: object): Pod => ({ metadata: { name, namespace: "ns", ...metadata } })

const created = <A>(object: A): Delta<A> => ({ _tag: "Created", object, initial: false })
const deleted = <A>(object: A): Delta<A> => ({ _tag: "Deleted", object, stateUnknown: false })
const updated = <A>(previous: A, object: A): Delta<A> => ({ _tag: "Updated", previous, object })

const web = named("web")
const twin = named("twin")
const other = named("other", { spec: { selector: { matchLabels: { app: "other" } } } })
const everything = named("everything", { spec: { selector: {} } })
const going = { deletionTimestamp: "2026-01-31T12:00:00Z" }

describe("a ReplicaSet event enqueues", () => {
  const deployments = storeOf([web, twin, other, everything])
  const trigger = Triggers.replicaSets({ deployments, sets: storeOf<ReplicaSet>([]), pods: storeOf<Pod>([]) })
  const owned = setOf("a", controlled(Deployment, web))
  const orphan = setOf("a", {})

  it("its owner, if that is still the same object", () => {
    for (const delta of [created(owned), deleted(owned), updated({ ...owned }, owned)]) {
      assert.deepStrictEqual(trigger(delta), ["ns/web"])
    }
    const stale = { ownerReferences: [{ ...Owner.reference(Deployment, web), uid: "former" }] }
    assert.deepStrictEqual(trigger(created(setOf("a", stale))), [])
    assert.deepStrictEqual(trigger(created(setOf("a", controlled(ReplicaSet, web)))), [])
  })

  it("both owners when its owner changes", () => {
    const moved = setOf("a", controlled(Deployment, other))
    assert.deepStrictEqual([...trigger(updated(owned, moved))].sort(), ["ns/other", "ns/web"])
  })

  it("every Deployment that selects it while it is an orphan, but only when it changed", () => {
    assert.deepStrictEqual(trigger(created(orphan)), ["ns/web", "ns/twin"])
    assert.deepStrictEqual(trigger(updated({ ...orphan }, orphan)), [])
    assert.deepStrictEqual(trigger(updated(setOf("a", { labels: {} }), orphan)), ["ns/web", "ns/twin"])
    assert.deepStrictEqual([...trigger(updated(owned, orphan))].sort(), ["ns/twin", "ns/web"])
    assert.deepStrictEqual(trigger(deleted(orphan)), [])
    assert.deepStrictEqual(trigger(created(setOf("a", going))), [])
  })

  it("its owner even if it is first observed as terminating, and nothing at a resync", () => {
    assert.deepStrictEqual(trigger(created(setOf("a", { ...controlled(Deployment, web), ...going }))), ["ns/web"])
    assert.deepStrictEqual(trigger(updated(owned, owned)), [])
  })
})

describe("a pod event enqueues", () => {
  const recreated = named("web", { strategy: "Recreate" })
  const first = setOf("first", controlled(Deployment, recreated))
  const second = setOf("second", controlled(Deployment, recreated))
  const last = pod("p", controlled(ReplicaSet, first))

  const trigger = (owner: Deployment, left: ReadonlyArray<Pod> = []) =>
    Triggers.pods({ deployments: storeOf([owner]), sets: storeOf([first, second]), pods: storeOf(left) })

  it("the Recreate Deployment whose last pod was deleted", () => {
    assert.deepStrictEqual(trigger(recreated)(deleted(last)), ["ns/web"])
    assert.deepStrictEqual(trigger(recreated, [pod("q", controlled(ReplicaSet, second))])(deleted(last)), [])
    assert.deepStrictEqual(trigger(recreated, [pod("q", {})])(deleted(last)), ["ns/web"])
  })

  it("nothing otherwise", () => {
    assert.deepStrictEqual(trigger(recreated)(created(last)), [])
    assert.deepStrictEqual(trigger(recreated)(updated(last, pod("p", going))), [])
    assert.deepStrictEqual(trigger(web)(deleted(last)), [])
    assert.deepStrictEqual(trigger(recreated)(deleted(pod("p", {}))), [])
    assert.deepStrictEqual(trigger(recreated)(deleted(pod("p", controlled(ReplicaSet, setOf("gone", {}))))), [])
  })
})
