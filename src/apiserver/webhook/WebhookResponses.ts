/**
 * The webhook responses of one request. A request is handled in one synchronous section, and a webhook takes time: where a response is
 * missing, the section ends without a change (`MissingResponses`), the webhook is called, and the whole request is processed again,
 * which finds the response here. Responses are kept by the content of the review, so a request that meets another state of the store
 * calls again, as kube-apiserver does when it retries a write.
 *
 * Random numbers are replayed: an object that is created gets the same uid each time.
 */
import type * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { Converter } from "../scheme/ResourceDefinition.ts"
import type { JsonObject } from "../json.ts"
import type { Reply } from "./WebhookCaller.ts"
import type { Hook } from "./configuration.ts"

/** The result of a call. */
export type CallResult =
  | { readonly _tag: "Replied"; readonly uid: string; readonly reply: Reply }
  /** The message after the name of the webhook. */
  | { readonly _tag: "Failed"; readonly why: string }

export interface AdmissionCall {
  readonly hook: Hook
  /** Operation and object: the same for each state of the object. */
  readonly about: string
  /** The request of the review as JSON, without its uid, which is drawn for each call. */
  readonly request: string
}

/** Thrown out of the synchronous section: these calls are needed before the request can be handled. */
export class MissingResponses {
  readonly calls: ReadonlyArray<AdmissionCall>
  constructor(calls: ReadonlyArray<AdmissionCall>) {
    this.calls = calls
  }
}

/** States of one object that a webhook is called for in one request: kube-apiserver retries a patch five times. */
const maxStates = 6

/** Maximum number of conversion calls of a request: a write needs two, and two for each webhook that matches another version. */
const conversions = 100

/** Objects of one CustomResourceDefinition to convert to one version. */
export interface Wanted {
  readonly converter: Converter
  /** Name of the version. */
  readonly to: string
  /** As JSON, with kind and apiVersion, and without a resourceVersion, which conversion may not change. */
  readonly objects: ReadonlyArray<string>
}

/** A converted object, or the error of the request. */
export type Conversion =
  | { readonly _tag: "Converted"; readonly text: string }
  | { readonly _tag: "Failed"; readonly why: string }

const conversionKey = (converter: Converter, to: string, text: string): string => `${converter.id} ${to} ${text}`

export class WebhookResponses {
  readonly random: Random.Random
  private readonly recordings: ReadonlyArray<RecordedNumbers>
  private readonly results = new Map<string, CallResult>()
  private readonly callCounts = new Map<string, number>()
  private readonly converted = new Map<string, Conversion>()
  private conversions = 0
  private revision: number | undefined
  /**
   * Deletions that all webhooks have admitted, each with its warnings. A deletecollection has many: looking up every response again for
   * each missing one would take quadratic time.
   */
  readonly admittedDeletions = new Map<string, ReadonlyArray<string>>()

  constructor(random: Random.Random) {
    const [ints, doubles] = [
      new RecordedNumbers(() => random.nextIntUnsafe()),
      new RecordedNumbers(() => random.nextDoubleUnsafe())
    ]
    this.recordings = [ints, doubles]
    this.random = { nextIntUnsafe: () => ints.next(), nextDoubleUnsafe: () => doubles.next() }
  }

  /** Called before each try: replays the random numbers. */
  rewind(): void {
    for (const recording of this.recordings) recording.rewind()
  }

  resultOf(call: AdmissionCall): CallResult | undefined {
    return this.results.get(`${call.hook.id} ${call.request}`)
  }

  /** False when the object has changed during this request too often. */
  mayCall({ about, hook }: AdmissionCall): boolean {
    return (this.callCounts.get(`${hook.id} ${about}`) ?? 0) < maxStates
  }

  record({ about, hook, request }: AdmissionCall, result: CallResult): void {
    this.results.set(`${hook.id} ${request}`, result)
    const key = `${hook.id} ${about}`
    this.callCounts.set(key, (this.callCounts.get(key) ?? 0) + 1)
  }

  /** The revision of a list: the present one when the request began, so that conversions do not chase concurrent writes. */
  listRevision(present: number): number {
    return (this.revision ??= present)
  }

  conversionOf(converter: Converter, to: string, text: string): Conversion | undefined {
    return this.converted.get(conversionKey(converter, to, text))
  }

  mayConvert(): boolean {
    return this.conversions < conversions
  }

  recordConversion({ converter, objects, to }: Wanted, result: Result.Result<ReadonlyArray<JsonObject>, string>): void {
    this.conversions++
    for (const [index, text] of objects.entries()) {
      const conversion: Conversion = Result.isFailure(result)
        ? { _tag: "Failed", why: result.failure }
        : { _tag: "Converted", text: JSON.stringify(result.success[index]) }
      this.converted.set(conversionKey(converter, to, text), conversion)
    }
  }
}

class RecordedNumbers {
  private readonly drawn: Array<number> = []
  private position = 0
  private readonly draw: () => number

  constructor(draw: () => number) {
    this.draw = draw
  }

  next(): number {
    if (this.position === this.drawn.length) this.drawn.push(this.draw())
    return this.drawn[this.position++] ?? 0
  }

  rewind(): void {
    this.position = 0
  }
}
