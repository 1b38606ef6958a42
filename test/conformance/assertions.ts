/** Assertions on raw responses: errors as `Status` objects, watch events, and media types. */
import { assert } from "@effect/vitest"
import type { Reply } from "./Case.ts"

export const merge = { contentType: "application/merge-patch+json" } as const
export const strategic = { contentType: "application/strategic-merge-patch+json" } as const
export const jsonPatch = { contentType: "application/json-patch+json" } as const
export const applyPatch = { contentType: "application/apply-patch+yaml" } as const
export const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } as const
export const partial = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" } as const
export const partialList = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" } as const

export interface Refused {
  readonly code: number
  readonly reason: string
  readonly message?: string | RegExp
  /** The expected details; others may exist. */
  readonly details?: object
}

/** Asserts that the response is a `Status` of a failure, with this message. */
export const refused = (reply: Reply, { code, details, message, reason }: Refused): void => {
  const { body } = reply
  assert.strictEqual(body?.kind, "Status", `${reply.status} ${reply.text.slice(0, 300)}`)
  assert.deepStrictEqual(
    [reply.status, body.apiVersion, body.status, body.reason, body.code],
    [code, "v1", "Failure", reason, code],
    reply.text.slice(0, 500)
  )
  assert.match(reply.contentType, /^application\/json/)
  if (typeof message === "string") assert.strictEqual(body.message, message)
  else if (message !== undefined) assert.match(body.message, message)
  for (const [key, value] of Object.entries(details ?? {}))
    assert.deepStrictEqual(body.details?.[key], value, reply.text)
}

/** Field, reason, and a phrase of the message beside the value, which versions print differently. */
export type Cause = readonly [field: string, reason: string, phrase: string]

/** 422 with exactly these causes; `subject` is `Kind.group "name"`. */
export const invalid = (reply: Reply, subject: string, ...expected: ReadonlyArray<Cause>): void => {
  refused(reply, { code: 422, reason: "Invalid" })
  const found = (reply.body.details.causes as ReadonlyArray<{ field: string; reason: string; message: string }>).filter(
    // Old versions report some causes twice.
    (one, index, all) => all.findIndex(({ field, message }) => field === one.field && message === one.message) === index
  )
  assert.deepStrictEqual(
    found.map(({ field, reason }) => [field, reason]),
    expected.map(([field, reason]) => [field, reason]),
    reply.body.message
  )
  for (const [index, [, , phrase]] of expected.entries()) assert.include(found[index]?.message, phrase)
  const all = expected.length === 1 ? `${expected[0]?.[0]}: ` : "["
  assert.strictEqual(reply.body.message.slice(0, subject.length + 13 + all.length), `${subject} is invalid: ${all}`)
}

/** Asserts a status below 300, or fails with the body. */
export const done = (reply: Reply, status?: number): any => {
  assert.isBelow(reply.status, 300, reply.text.slice(0, 500))
  if (status !== undefined) assert.strictEqual(reply.status, status)
  return reply.body
}

/** Events of a watch that has ended. */
export const events = (reply: Reply): ReadonlyArray<{ readonly type: string; readonly object: any }> => {
  assert.strictEqual(reply.status, 200, reply.text)
  return reply.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
}
