/** Pod templates and their match with the selector of the workload. Source: pkg/apis/core/validation: ValidatePodTemplateSpec. */
import { at, get, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { forbidden, invalid, labelSelector, notSupported, stringMap } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { podSpec } from "./podSpec.ts"

const nothing: JsonObject = {}

/** Labels, annotations and spec of a template. Field paths of labels and annotations have no `metadata`, as in kube-apiserver. */
export const template = (errors: Errors, field: string, value: Json | undefined): void => {
  templateMetadata(errors, field, value)
  podSpec(errors, `${field}.spec`, objectAt(value, "spec") ?? nothing)
}

/** The metadata alone, for templates whose pod spec is not validated. */
export const templateMetadata = (errors: Errors, field: string, value: Json | undefined): void => {
  formats.labels(errors, `${field}.labels`, at(value, "metadata", "labels"))
  formats.annotations(errors, `${field}.annotations`, at(value, "metadata", "annotations"))
}

export const mismatch = (errors: Errors, field: string, value: Json | undefined): void => {
  const labels = at(value, "metadata", "labels")
  errors.push(invalid(`${field}.metadata.labels`, stringMap(labels), "`selector` does not match template `labels`"))
}

/** Pods of a workload that keeps them running: restartPolicy is Always, and activeDeadlineSeconds is unset. */
export const running = (errors: Errors, field: string, value: Json | undefined, owner: string): void => {
  const policy = textAt(value, "spec", "restartPolicy")
  if (policy !== "Always") errors.push(notSupported(`${field}.spec.restartPolicy`, policy, ["Always"]))
  if (at(value, "spec", "activeDeadlineSeconds") !== undefined) {
    errors.push(forbidden(`${field}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`))
  }
}

/** The template of a ReplicaSet or Deployment, with its selector. */
export const selected = (errors: Errors, spec: JsonObject): void => {
  const selector = get(spec, "selector")
  const value = get(spec, "template")
  const matches = formats.selects(selector, at(value, "metadata", "labels"))
  if (matches === undefined) {
    errors.push(invalid("spec.selector", labelSelector(selector), "invalid label selector"))
    return
  }
  if (!matches) mismatch(errors, "spec.template", value)
  template(errors, "spec.template", value)
  running(errors, "spec.template", value, "ReplicaSet")
}
