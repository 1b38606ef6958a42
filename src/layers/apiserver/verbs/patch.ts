/** patch: reads the object in the form the client knows, applies the patch, and goes on as an update. */
import { isObject } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as jsonPatch from "../patch/jsonPatch.ts"
import * as mergePatch from "../patch/mergePatch.ts"
import * as Refusal from "../Refusal.ts"
import type { Target } from "../routing.ts"
import type { Turn } from "../Turn.ts"
import type { Version } from "../Version.ts"
import { served } from "../views/View.ts"
import * as read from "./read.ts"
import * as write from "./write.ts"

export const mediaTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml"
} as const

export const patch = (turn: Turn, target: Target, options: write.WriteOptions): write.Updated => {
  const type = body.contentType(turn.request)
  const existing = read.find(turn, target)
  const current = served(target.kind, existing)
  const patched = applied(type, current, turn)
  return { version: finish(turn, target, patched, existing, options), created: false }
}

const applied = (type: string, current: JsonObject, turn: Turn): Json => {
  const sent = body.parseJson(turn.request.body)
  if (sent === undefined) throw Refusal.badRequest("error decoding patch: invalid JSON")
  switch (type) {
    case mediaTypes.json:
      return jsonPatch.apply(current, sent)
    case mediaTypes.merge:
    case mediaTypes.strategic:
      if (!isObject(sent)) throw Refusal.badRequest("error decoding patch: json: cannot unmarshal value into Go value")
      return mergePatch.apply(current, sent)
    default:
      throw Refusal.unsupportedMediaType(Object.values(mediaTypes))
  }
}

const finish = (turn: Turn, target: Target, patched: Json, existing: Version, options: write.WriteOptions): Version => {
  if (!isObject(patched)) throw Refusal.unprocessable("the patch does not result in an object")
  return write.update(turn, target, body.accept(patched, target.kind), existing, options)
}
