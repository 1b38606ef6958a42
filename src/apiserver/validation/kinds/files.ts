/** Files that volumes create from ConfigMap and Secret keys and from the downward API. Source: pkg/apis/core/validation. */
import { at, objectAt, textAt } from "../../json.ts"
import type { Json } from "../../json.ts"
import * as environment from "./environment.ts"
import { invalid, required } from "./field.ts"
import type { Errors } from "./field.ts"

/** A relative path without `..`. */
export const localPath = (errors: Errors, field: string, path: string): void => {
  if (path.startsWith("/")) errors.push(invalid(field, path, "must be a relative path"))
  noSteps(errors, field, path)
}

export const noSteps = (errors: Errors, field: string, path: string): void => {
  if (path.split("/").includes("..")) errors.push(invalid(field, path, "must not contain '..'"))
}

/** A relative path that also does not start with `..`, because the kubelet keeps files with such names in the same directory. */
export const ownPath = (errors: Errors, field: string, path: string): void => {
  localPath(errors, field, path)
  if (/^\.\.(?!\/)/.test(path)) errors.push(invalid(field, path, "must not start with '..'"))
}

export const mode = (errors: Errors, field: string, value: Json | undefined): void => {
  if (typeof value === "number" && (value < 0 || value > 0o777)) {
    errors.push(invalid(field, value, "must be a number between 0 and 0777 (octal), both inclusive"))
  }
}

/** The items of a ConfigMap or Secret volume: keys and the files that are created from them. */
export const items = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, item] of list.entries()) {
    const path = `${field}[${index}]`
    if (textAt(item, "key") === "") errors.push(required(`${path}.key`))
    const target = textAt(item, "path")
    if (target === "") errors.push(required(`${path}.path`))
    else ownPath(errors, `${path}.path`, target)
    mode(errors, `${path}.mode`, at(item, "mode"))
  }
}

/** Files of a downwardAPI volume. Field paths in the errors have no index, as in kube-apiserver. */
export const downward = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const item of list) {
    const target = textAt(item, "path")
    if (target === "") errors.push(required(`${field}.path`))
    else ownPath(errors, `${field}.path`, target)
    const value = objectAt(item, "fieldRef")
    const amount = objectAt(item, "resourceFieldRef")
    if (value !== undefined) {
      environment.fieldRef(errors, `${field}.fieldRef`, value, environment.inFiles)
      if (amount !== undefined) {
        errors.push(invalid(field, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
      }
    } else if (amount !== undefined) {
      environment.resourceFieldRef(errors, `${field}.resourceFieldRef`, amount, true)
    } else errors.push(required(field, "one of fieldRef and resourceFieldRef is required"))
    mode(errors, `${field}.mode`, at(item, "mode"))
  }
}
