/**
 * The concurrency of controllers: the format of `--group-kind-concurrency`. Pure. Source:
 * controller-runtime: config.Controller.GroupKindConcurrency.
 */
import * as Option from "effect/Option"
import type * as Resource from "../../kube/Resource.ts"
import { nameOf } from "../../layers/controller/defaults.ts"
import type { Codec } from "../../layers/setting/codecs.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import { hint } from "../setting/nearest.ts"

/** By the name of the kind: `Deployment.apps`, `Pod`. */
export type ByKind = ReadonlyMap<string, number>

const part = /^([A-Z][A-Za-z0-9]*(?:\.[a-z0-9]([a-z0-9.-]*[a-z0-9])?)?)=(.*)$/

/** One part of the list, or its error. */
const read = (text: string): readonly [kind: string, workers: number] | string => {
  const [, kind = "", , number = ""] = part.exec(text) ?? []
  if (kind === "") return `"${text}" must be like Deployment.apps=5 or Pod=5`
  const workers = Codecs.concurrency.decode(number)
  return Option.isNone(workers) ? `"${text}" must end with ${Codecs.concurrency.expected}` : [kind, workers.value]
}

const parse = (text: string): ByKind | string => {
  const kinds = new Map<string, number>()
  for (const one of text.split(",").map((each) => each.trim())) {
    if (one === "") continue
    const entry = read(one)
    if (typeof entry === "string") return entry
    if (kinds.has(entry[0]) && kinds.get(entry[0]) !== entry[1]) return `${entry[0]} is there twice`
    kinds.set(...entry)
  }
  return kinds
}

export const codec: Codec<ByKind> = {
  metavar: "list",
  expected: "a list like Deployment.apps=5,Pod=2",
  decode: (text) => Option.liftPredicate(parse(text), (parsed): parsed is ByKind => typeof parsed !== "string"),
  explain: (text) => {
    const parsed = parse(text)
    return typeof parsed === "string" ? parsed : undefined
  }
}

/** The rest of a sentence about a kind that no controller reconciles. */
export const unknown = (
  byKind: ByKind,
  controllers: ReadonlyArray<{ readonly for?: Resource.Any | undefined }>
): string | undefined => {
  const known = [...new Set(controllers.flatMap((one) => (one.for === undefined ? [] : [nameOf(one.for)])))]
  const wrong = [...byKind.keys()].find((kind) => !known.includes(kind))
  return wrong === undefined
    ? undefined
    : `no controller reconciles ${wrong}${hint(wrong, known) || `; there are: ${known.join(", ")}`}`
}
