/** Volumes of a pod: their names, and what is in them. Source: core validation of the reference server. */
import { get, objectAt, textAt } from "../../json.ts"
import type { Json } from "../../json.ts"
import { claimSpec } from "./claims.ts"
import { duplicate, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import type { Volumes } from "./mounts.ts"
import { source } from "./volumeSources.ts"

/** The volumes that are well formed, for the mounts to refer to. */
export const volumes = (errors: Errors, field: string, list: ReadonlyArray<Json>): Volumes => {
  const known = new Map<string, Json>()
  for (const [index, volume] of list.entries()) {
    const path = `${field}[${index}]`
    const before = errors.length
    source(errors, path, volume)
    claimed(errors, `${path}.ephemeral.volumeClaimTemplate`, volume)
    const name = textAt(volume, "name")
    if (name === "") errors.push(required(`${path}.name`))
    else pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
    if (known.has(name)) errors.push(duplicate(`${path}.name`, name))
    if (errors.length === before) known.set(name, volume)
  }
  return known
}

/** A claim that is made for the pod, and ends with it. */
const claimed = (errors: Errors, field: string, volume: Json): void => {
  const ephemeral = objectAt(volume, "ephemeral")
  if (ephemeral === undefined) return
  const template = get(ephemeral, "volumeClaimTemplate")
  if (template === undefined) errors.push(required(field))
  else claimSpec(errors, `${field}.spec`, objectAt(template, "spec") ?? {})
}
