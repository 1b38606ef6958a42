/**
 * Changes that the Schemas of a kind suggest, as lists of operations: each creates the object, changes a field and all fields in it step by step, and
 * takes the changes back. Every object in between is valid to the Schemas and to the definition of the kind, except for its rules in CEL.
 */
import * as Result from "effect/Result"
import { structural } from "../../../kube/crd/structural.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Resource from "../../../kube/Resource.ts"
import { canonical } from "../../../kube/structural/lists.ts"
import { additionalOf, isMembers, type StructuralSchema } from "../../../kube/structural/StructuralSchema.ts"
import { validate } from "../../../kube/structural/validate.ts"
import type { Operation } from "./Operation.ts"
import * as Path from "./path.ts"
import { full, valuesOf } from "./values.ts"

/** How deep in an object fields are changed: `spec.template.ports[0].name` is at depth 5. */
const depth = 6

/** With more operations a scenario has too many points. */
const mostChanges = 12

/** The changes of one field. */
export interface Group {
  /** `spec.size`, or `spec.template-2` for further changes of a field that has many. */
  readonly name: string
  readonly operations: ReadonlyArray<Operation>
}

type Change = Extract<Operation, { readonly _tag: "Change" }>

/** A change, and those that must come before it where the object has no value at their paths. */
interface Candidate extends Change {
  readonly needs: ReadonlyArray<Change>
}

/** The changes of an object, by field. `drawn`: other valid objects of the kind. */
export const groupsOf = (
  resource: Resource.AnyCustom,
  object: KubeObject,
  drawn: ReadonlyArray<KubeObject>
): ReadonlyArray<Group> => {
  const schema = Result.getOrElse(structural(Resource.partsOf(resource.declaration)), (): StructuralSchema => ({}))
  const isValid = (changed: unknown): boolean =>
    Result.isSuccess(resource.decode(changed)) && validate(schema, changed).length === 0
  return fieldsOf(schema, object).flatMap(({ field, isOptional, path }) => {
    const candidates = candidatesOf(field, path, Path.get(object, path), isOptional, drawn)
    return split(object, path, candidates, isValid).map((operations, i) => ({
      name: `${Path.text(path)}${i === 0 ? "" : `-${i + 1}`}`,
      operations
    }))
  })
}

interface Field {
  readonly path: Path.Path
  readonly field: StructuralSchema
  readonly isOptional: boolean
}

/** The fields in `spec`, and others beside it. A controller writes the status itself. */
const fieldsOf = (schema: StructuralSchema, object: KubeObject): ReadonlyArray<Field> =>
  members(schema, []).flatMap((one) => {
    const [name] = one.path
    if (name === "status" || name === "metadata") return []
    const isStruct = one.field.properties !== undefined && isMembers(Path.get(object, one.path))
    return isStruct ? members(one.field, one.path) : [one]
  })

const members = ({ properties = {}, required = [] }: StructuralSchema, path: Path.Path): ReadonlyArray<Field> =>
  Object.entries(properties).map(([name, field]) => ({
    path: [...path, name],
    field,
    isOptional: !required.includes(name)
  }))

/** The values of a field in order, then those of the fields in it. */
const candidatesOf = (
  schema: StructuralSchema,
  path: Path.Path,
  present: unknown,
  isOptional: boolean,
  drawn: ReadonlyArray<KubeObject>,
  needs: ReadonlyArray<Change> = []
): ReadonlyArray<Candidate> => {
  const of = (value: unknown): Candidate => ({ _tag: "Change", path, value, needs })
  const random = drawn.map((one) => Path.get(one, path)).filter((one) => one !== undefined)
  const own = [...(isOptional ? [undefined] : []), ...valuesOf(schema, present, random)].map(of)
  if (path.length >= depth) return own
  const inner = full(schema)
  const has: ReadonlyArray<Change> = [...needs, { _tag: "Change", path, value: inner }]
  const nested = innerFields(schema, path, inner).flatMap(({ field, isOptional: mayMiss, path: place }) =>
    candidatesOf(field, place, Path.get(inner, place.slice(path.length)), mayMiss, drawn, has)
  )
  return [...own, ...nested]
}

/** The fields of an object, of the first element of a list, of the first entry of a record. */
const innerFields = (schema: StructuralSchema, path: Path.Path, inner: unknown): ReadonlyArray<Field> => {
  if (schema.type === "array" && schema.items !== undefined) return members(schema.items, [...path, 0])
  const additional = additionalOf(schema)
  if (additional !== undefined) return members(additional, [...path, "first"])
  return isMembers(inner) ? members(schema, path) : []
}

/** Lists of operations, each from the creation of the object to the field's value at the beginning. */
const split = (
  object: KubeObject,
  path: Path.Path,
  candidates: ReadonlyArray<Candidate>,
  isValid: (changed: unknown) => boolean
): ReadonlyArray<ReadonlyArray<Operation>> => {
  const lists: Array<ReadonlyArray<Operation>> = []
  const create: Operation = { _tag: "Create", object }
  const back: Change = { _tag: "Change", path, value: Path.get(object, path) }
  let changes: ReadonlyArray<Change> = []
  let state: unknown = object
  const tried: Array<unknown> = [object]
  const finish = () => {
    if (changes.length > 0) lists.push([create, ...changes, ...(equal(state, object) ? [] : [back])])
    changes = []
    state = object
  }
  for (const candidate of candidates) {
    if (changes.length + candidate.needs.length >= mostChanges) finish()
    const found = [state, object].flatMap((from) => appended(from, candidate, isValid) ?? [])[0]
    if (found === undefined || tried.some((one) => equal(one, found.state))) continue
    const isFromStart = found.from !== state
    tried.push(found.state)
    changes = [...changes, ...(isFromStart ? [back] : []), ...found.changes]
    state = found.state
  }
  finish()
  return lists
}

interface Appended {
  readonly from: unknown
  readonly state: unknown
  readonly changes: ReadonlyArray<Change>
}

/** The change after what it needs; undefined where a value in between would not be valid. */
const appended = (
  from: unknown,
  { needs, path, value }: Candidate,
  isValid: (changed: unknown) => boolean
): Appended | undefined => {
  let state = from
  const changes: Array<Change> = []
  for (const [i, need] of needs.entries()) {
    const inside = needs[i + 1]?.path ?? path
    if (isContainer(Path.get(state, inside.slice(0, -1)))) continue
    if (!isContainer(Path.get(state, need.path.slice(0, -1)))) return undefined
    state = Path.put(state, need.path, need.value)
    if (!isValid(state)) return undefined
    changes.push(need)
  }
  if (!isContainer(Path.get(state, path.slice(0, -1)))) return undefined
  const next = Path.put(state, path, value)
  if (!isValid(next)) return undefined
  return { from, state: next, changes: [...changes, { _tag: "Change", path, value }] }
}

const equal = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

const isContainer = (value: unknown): boolean => isMembers(value) || Array.isArray(value)
