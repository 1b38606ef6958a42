/** Random steps for the models of the store and of the watch; shared by their properties. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

export const natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))

export const operations = Arbitrary.array(
  Arbitrary.schema(Schema.Struct({ kind: natural, name: natural, label: natural, lag: natural })),
  { minLength: 20, maxLength: 100 }
)

export const plan = Arbitrary.all({
  actions: Arbitrary.array(Arbitrary.schema(Schema.Struct({ kind: natural, name: natural, wait: natural })), {
    minLength: 10,
    maxLength: 80
  }),
  streaming: Arbitrary.schema(Schema.Boolean)
})
