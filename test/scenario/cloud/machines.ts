/** This package's program with an in-memory cloud in which some machines exist and others do not. For the scenarios of `cloud.test.ts`. */
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import process from "node:process"
import { CloudProvider } from "../../../src/index.ts"
import { product } from "../../../src/cli/product.ts"
import { start } from "../../../src/cli/program.ts"

const machines = CloudProvider.layerMemory((node) => (node === "gone" ? undefined : { isShutDown: node === "off" }))

start(
  Result.map(product, (program) => ({
    program: { ...program, services: (resolved) => Layer.merge(program.services(resolved), machines) },
    settings: {},
    commands: () => []
  })),
  process
)
