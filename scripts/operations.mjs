/** `npm run operations`: updates the tables of settings in docs/operations.md from the settings of the built program. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { main, root, run } from "./run.mjs"

const built = (path) => import(pathToFileURL(join(root, "dist", path)).href)

await main(async () => {
  run(process.execPath, ["scripts/build.mjs"])
  const { product } = await built("cli/product.js")
  const { settings } = product.success
  const { renewed } = await built("manager/setting/document.js")
  const file = join(root, "docs/operations.md")
  const document = renewed(readFileSync(file, "utf8"), settings)
  if (document === undefined) throw new Error(`${file} has no marks for the tables`)
  writeFileSync(file, document)
})
