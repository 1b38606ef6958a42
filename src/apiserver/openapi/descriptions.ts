/**
 * The descriptions of types and fields that `kubectl explain` prints, in our own words: what a field means, its default, and what happens when it
 * is unset. The texts are in `descriptions/`, by API group. They are loaded with the first request for a document.
 */
import type { Type } from "../scheme/types.ts"
import * as access from "./descriptions/access.ts"
import { containers } from "./descriptions/containers.ts"
import { admissionregistration, apiextensions, apiregistration, metrics } from "./descriptions/extensions.ts"
import { jobs } from "./descriptions/jobs.ts"
import { meta } from "./descriptions/meta.ts"
import type { Descriptions } from "./descriptions/meta.ts"
import * as networking from "./descriptions/networking.ts"
import { pods } from "./descriptions/pods.ts"
import * as policies from "./descriptions/policies.ts"
import { scheduling } from "./descriptions/scheduling.ts"
import * as volumes from "./descriptions/volumes.ts"
import * as workloads from "./descriptions/workloads.ts"

/** By table of types. */
export const tables: Readonly<Record<string, Descriptions>> = {
  admissionregistration,
  apiextensions,
  apiregistration,
  apps: workloads.apps,
  autoscaling: policies.autoscaling,
  autoscaling2: policies.autoscaling2,
  batch: jobs,
  coordination: access.coordination,
  core: {
    ...access.core,
    ...containers,
    ...networking.core,
    ...pods,
    ...policies.core,
    ...scheduling,
    ...volumes.core,
    ...workloads.core
  },
  discovery: networking.discovery,
  events: access.events,
  meta,
  metrics,
  networking: networking.networking,
  policy: policies.policy,
  rbac: access.rbac,
  scheduling: policies.scheduling,
  storage: volumes.storage
}

/** Fields of every kind. */
export const ofKind: Readonly<Record<string, string>> = {
  apiVersion: "The API group and version that the object is written in, such as v1 or apps/v1.",
  items: "The objects of the list.",
  kind: "The kind of the object, such as Pod. It cannot be changed.",
  metadata: "Name, labels, owners and what else every object has; in a list, its version.",
  spec: "The desired state, which users write and controllers work towards.",
  status: "The state that was last observed. Controllers write it, through a subresource; other writes ignore it."
}

const own = <A>(of: Readonly<Record<string, A>> | undefined, name: string): A | undefined =>
  of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined

const textsOf = (id: string): Readonly<Record<string, string>> | undefined => {
  const [table = "", name = ""] = id.split(".")
  return own(own(tables, table), name)
}

export const ofType = (id: string): string | undefined => {
  const text = own(textsOf(id), "")
  if (text !== undefined || !id.endsWith("List")) return text
  const item = id.slice(0, -"List".length)
  return textsOf(item) === undefined ? undefined : `A list of objects of the kind ${item.split(".")[1] ?? ""}.`
}

export const ofField = (type: Type, name: string): string | undefined =>
  own(textsOf(type.id), name) ??
  (type.fields.has("kind") && type.fields.has("metadata") ? own(ofKind, name) : undefined)
