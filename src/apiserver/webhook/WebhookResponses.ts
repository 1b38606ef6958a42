/**
 * What one request has asked webhooks so far, and what they said. A request is answered in one synchronous section, and a webhook
 * takes time: where an answer is missing, the section ends without a trace (`Unanswered`), the webhook is called, and the whole request
 * is done again, which finds the answer here. Answers are kept by the question, so a request that meets another state of the store
 * than before asks anew, as the reference server does when it tries a write again.
 *
 * Chance is drawn once: the second time an object is created it gets the same uid.
 */
import type * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { Converter } from "../scheme/Kind.ts"
import type { JsonObject } from "../json.ts"
import type { Reply } from "./WebhookCaller.ts"
import type { Hook } from "./configuration.ts"

/** What became of a call. */
export type CallResult =
  | { readonly _tag: "Replied"; readonly uid: string; readonly reply: Reply }
  /** The words that follow the webhook's name. */
  | { readonly _tag: "Failed"; readonly why: string }

export interface AdmissionCall {
  readonly hook: Hook
  /** What is done to which object: the same for every state that it is asked about in. */
  readonly about: string
  /** The request of a review as JSON, without its uid, which is drawn for every call. */
  readonly request: string
}

/** Thrown out of the synchronous section: these webhooks have to be called before the request can be answered. */
export class MissingResponses {
  readonly calls: ReadonlyArray<AdmissionCall>
  constructor(calls: ReadonlyArray<AdmissionCall>) {
    this.calls = calls
  }
}

/** States of one object that a webhook is asked about for one request. Source: the tries of a patch in the reference server. */
const states = 6

/** How often a request may find something to be converted: a write asks twice, and twice for each webhook that wants another version. */
const conversions = 100

/** Objects of one definition, to be had in one version. */
export interface Wanted {
  readonly converter: Converter
  /** Name of the version. */
  readonly to: string
  /** As JSON, with kind and apiVersion, and without a resource version, which no conversion has a say in. */
  readonly objects: ReadonlyArray<string>
}

/** An object in another version; or the sentence that the request fails with. */
export type Conversion =
  | { readonly _tag: "Converted"; readonly text: string }
  | { readonly _tag: "Failed"; readonly why: string }

const conversionKey = (converter: Converter, to: string, text: string): string => `${converter.id} ${to} ${text}`

export class WebhookResponses {
  readonly random: Random.Random
  private readonly tapes: ReadonlyArray<Tape>
  private readonly results = new Map<string, CallResult>()
  private readonly asked = new Map<string, number>()
  private readonly converted = new Map<string, Conversion>()
  private conversions = 0
  private revision: number | undefined
  /**
   * Deletions that all webhooks have let pass, each with what they warned of: of a collection there are many, and to find every answer
   * again whenever one more is missing would take the square of their number.
   */
  readonly passed = new Map<string, ReadonlyArray<string>>()

  constructor(random: Random.Random) {
    const [ints, doubles] = [new Tape(() => random.nextIntUnsafe()), new Tape(() => random.nextDoubleUnsafe())]
    this.tapes = [ints, doubles]
    this.random = { nextIntUnsafe: () => ints.next(), nextDoubleUnsafe: () => doubles.next() }
  }

  /** Before every try. */
  rewind(): void {
    for (const tape of this.tapes) tape.rewind()
  }

  resultOf(call: AdmissionCall): CallResult | undefined {
    return this.results.get(`${call.hook.id} ${call.request}`)
  }

  /** False when the object changes under this request again and again. */
  mayAsk({ about, hook }: AdmissionCall): boolean {
    return (this.asked.get(`${hook.id} ${about}`) ?? 0) < states
  }

  record({ about, hook, request }: AdmissionCall, result: CallResult): void {
    this.results.set(`${hook.id} ${request}`, result)
    const key = `${hook.id} ${about}`
    this.asked.set(key, (this.asked.get(key) ?? 0) + 1)
  }

  /** What a list is about, the present revision when the request began: who asks for conversions must not chase those who write. */
  readAt(present: number): number {
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

class Tape {
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
