/**
 * Printer columns of a custom resource: its name, then additionalPrinterColumns, or Age without any. Source:
 * apiextensions-apiserver, registry/customresource/tableconvertor.
 */
import { arrayAt, isObject, numberAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import { age, name, since } from "../printers/columns.ts"
import type { PrinterColumn } from "../scheme/ResourceDefinition.ts"
import * as jsonPath from "./jsonPath.ts"

export const columnsOf = (version: JsonObject): ReadonlyArray<PrinterColumn> => {
  const added = arrayAt(version, "additionalPrinterColumns")
  return added.length === 0 ? [name, age] : [name, ...added.map(columnOf)]
}

const types = ["boolean", "date", "integer", "number"] as const

const columnOf = (column: Json): PrinterColumn => {
  const steps = jsonPath.parse(textAt(column, "jsonPath"))
  const given = textAt(column, "type")
  const type = types.find((one) => one === given) ?? "string"
  const description = textAt(column, "description")
  return {
    name: textAt(column, "name"),
    type,
    priority: numberAt(column, "priority"),
    ...(textAt(column, "format") === "" ? {} : { format: textAt(column, "format") }),
    ...(description === "" ? {} : { description }),
    cell: (object, now) => (steps === undefined ? null : cellOf(type, jsonPath.first(steps, object), now))
  }
}

/** The cell is null if the value has not the type of the column. Source: apiextensions-apiserver, tableconvertor. */
const cellOf = (
  type: PrinterColumn["type"],
  value: Json | undefined,
  now: number
): string | number | boolean | null => {
  if (value === undefined || value === null) return null
  switch (type) {
    case "date":
      return typeof value === "string" ? since(value, now) : null
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null
    case "number":
      return typeof value === "number" ? value : null
    case "boolean":
      return typeof value === "boolean" ? value : null
    case "string":
      return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
  }
}
