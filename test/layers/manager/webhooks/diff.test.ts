/** A patch says the difference, and nothing else. */
import * as Arbitrary from "effect/Arbitrary"
import { isDeepStrictEqual } from "node:util"
import type { Json } from "../../../../src/layers/apiserver/json.ts"
import { apply } from "../../../../src/layers/apiserver/patch/jsonPatch.ts"
import * as Diff from "../../../../src/layers/manager/webhooks/diff.ts"
import { law, prove } from "../../../support/laws.ts"
import { json } from "./json.ts"

/** As parsed: generated objects have no prototype. */
const values = Arbitrary.map(Arbitrary.schema(json(3)), (value): unknown => JSON.parse(JSON.stringify(value)))
const pairs = Arbitrary.all([values, values] as const)

/** Pointers of all that two values have alike. */
const alike = (a: unknown, b: unknown, path = ""): ReadonlyArray<string> => {
  if (isDeepStrictEqual(a, b)) return [path]
  if (!isFields(a) || !isFields(b)) return []
  return Object.keys(a)
    .filter((key) => Object.hasOwn(b, key))
    .flatMap((key) => alike(a[key], b[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`))
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Undefined: it cannot be applied. */
const applied = (value: unknown, patch: unknown): unknown => {
  try {
    return apply(value as Json, patch as Json)
  } catch {
    return undefined
  }
}

prove<typeof Diff>({
  path: "layers/manager/webhooks/diff.ts",
  module: Diff,
  laws: [
    law("applied to the first it gives the second", pairs, ({ diff }, [from, to]) =>
      isDeepStrictEqual(applied(from, diff(from, to)), to)
    ),
    law("what is the same is not spoken of", pairs, ({ diff }, [from, to]) => {
      const paths = diff(from, to).map(({ path }) => path)
      return alike(from, to).every((same) =>
        paths.every((path) => path !== same && !path.startsWith(`${same}/`) && !same.startsWith(`${path}/`))
      )
    }),
    law("of undefined fields nothing is said", values, ({ diff }, value) =>
      isFields(value) ? diff(value, { ...value, nothing: undefined }).length === 0 : diff(value, value).length === 0
    )
  ],
  mutants: [
    {
      title: "it forgets what was removed",
      find: "if (!Object.hasOwn(to, key)) out.push",
      replace: "if (false) out.push"
    },
    { title: "it adds what is there", find: "if (Object.hasOwn(from, key)) walk", replace: "if (false) walk" },
    {
      title: "it does not look into objects",
      find: "if (isRecord(from) && isRecord(to)) return",
      replace: "if (false) return"
    },
    { title: "it forgets that a list has grown", find: "&& from.length === to.length", replace: "" },
    { title: "a slash in a key is a way down", find: '.replaceAll("/", "~1")', replace: "" },
    {
      title: "it escapes in the wrong order",
      find: 'key.replaceAll("~", "~0").replaceAll("/", "~1")',
      replace: 'key.replaceAll("/", "~1").replaceAll("~", "~0")'
    },
    { title: "it says what is the same", find: "if (!Equal.equals(from, to)) out.push", replace: "if (true) out.push" },
    {
      title: "it takes fields over that JSON has not",
      find: "JSON.parse(JSON.stringify(to)) as unknown",
      replace: "to"
    }
  ]
})
