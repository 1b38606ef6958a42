/**
 * All functions that an expression may call, by name, and the names of types. They are those of the API server of Kubernetes 1.36, not more:
 * a rule that is accepted here has to be accepted there. Source: apiserver pkg/cel/environment/base.go.
 */
import * as Type from "../Type.ts"
import { conversions } from "./conversions.ts"
import type { Definition, Overload } from "./define.ts"
import { authorizer } from "../kubernetes/authorizer.ts"
import { lists } from "./lists.ts"
import { named } from "../kubernetes/formats.ts"
import { network } from "../kubernetes/network.ts"
import { operators } from "./operators.ts"
import { quantities } from "../kubernetes/quantities.ts"
import { semver } from "../kubernetes/semver.ts"
import { texts } from "./strings.ts"
import { time } from "./time.ts"
import { urls } from "../kubernetes/url.ts"

const definitions: ReadonlyArray<Definition> = [
  ...operators,
  ...conversions,
  ...texts,
  ...time,
  ...lists,
  ...authorizer,
  ...named,
  ...network,
  ...quantities,
  ...semver,
  ...urls
]

const grouped = new Map<string, Array<Overload>>()
for (const definition of definitions) {
  const known = grouped.get(definition.name)
  if (known === undefined) grouped.set(definition.name, [definition])
  else known.push(definition)
}

export const functions: ReadonlyMap<string, ReadonlyArray<Overload>> = grouped

/** Types that an expression may name: `type(x) == int`. Quantities, URLs, versions and formats have types without a name for them. */
export const typeNames: ReadonlyMap<string, Type.Type> = new Map<string, Type.Type>([
  ["bool", Type.bool],
  ["bytes", Type.bytes],
  ["double", Type.double],
  ["google.protobuf.Duration", Type.duration],
  ["google.protobuf.Timestamp", Type.timestamp],
  ["int", Type.int],
  ["list", Type.list(Type.dyn)],
  ["map", Type.map(Type.dyn, Type.dyn)],
  ["net.CIDR", Type.opaque("net.CIDR")],
  ["net.IP", Type.opaque("net.IP")],
  ["null_type", Type.nothing],
  ["optional_type", Type.optional(Type.dyn)],
  ["string", Type.string],
  ["type", { kind: "type", params: [] }],
  ["uint", Type.uint]
])
