/**
 * Takes the pictures of docs/console.md: starts the built program (`npm run build`) with the demo shop, adds a Deployment that exceeds a quota, and looks
 * at the console with Chromium during a rollout. `node scripts/screenshots.mjs [folder]` writes to docs/console, or to the folder.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = process.argv[2] ?? join(root, "docs/console")
mkdirSync(folder, { recursive: true })

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const program = spawn(
  process.execPath,
  [
    join(root, "dist/main.js"),
    "--cluster=embedded",
    "--leader-elect",
    "--demo=shop",
    "--nodes=8",
    "--console-bind-address=127.0.0.1:0",
    "--health-probe-bind-address=0",
    "--metrics-bind-address=0"
  ],
  { stdio: ["ignore", "pipe", "pipe"] }
)
let output = ""
const printed = new Promise((resolve, reject) => {
  const read = (chunk) => {
    output += chunk
    const address = /http:\S+\/console\/#token=\S+/.exec(output)?.[0]
    const kubeconfig = /--kubeconfig (\S+)/.exec(output)?.[1]
    if (address !== undefined && kubeconfig !== undefined) resolve({ address, kubeconfig })
  }
  program.stdout.on("data", read)
  program.stderr.on("data", read)
  program.on("exit", () => reject(new Error(`the program ended:\n${output.slice(-3000)}`)))
})

/** In this order: object and cluster show the rollout. */
const views = [
  { name: "object", hash: "#/objects/deployments.apps/shop/catalog" },
  { name: "cluster", hash: "#/cluster" },
  { name: "controllers", hash: "#/controllers" },
  { name: "queue", hash: "#/queue" },
  { name: "informers", hash: "#/informers" },
  { name: "leadership", hash: "#/leadership" }
]

/** Small files: one pixel for each of the page's. */
const shots = [
  ...views.map((view) => ({ ...view, file: `${view.name}.png`, width: 1280, height: 760, colorScheme: "light" })),
  { ...views[2], file: "controllers-narrow.png", width: 390, height: 780, colorScheme: "dark" }
]

const chromiumPath = () => {
  for (const name of ["chromium", "chromium-browser"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim()
    } catch {
      // The next name.
    }
  }
  throw new Error("Chromium is missing: install Debian's package chromium")
}

try {
  const { address, kubeconfig } = await printed
  const kubectl = (namespace, ...args) =>
    execFileSync("kubectl", ["--kubeconfig", kubeconfig, "--namespace", namespace, ...args], { stdio: "inherit" })
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: process.getuid() === 0 ? ["--no-sandbox"] : []
  })
  const open = async ({ colorScheme, height, width }) => {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme })
    await page.goto(address)
    await page.waitForSelector("tbody tr")
    return page
  }
  const pages = new Map()
  for (const { colorScheme, height, width } of shots) {
    const key = `${colorScheme} ${width}`
    if (!pages.has(key)) pages.set(key, await open({ colorScheme, height, width }))
  }
  const show = (page, hash) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  // The objects of the shop are created one after another.
  const first = pages.values().next().value
  await show(first, "#/objects/deployments.apps/shop/catalog")
  await first.locator(".timeline").waitFor()
  await show(first, "#/controllers")
  // A step of its rollout takes some seconds.
  kubectl("shop", "patch", "deployment", "catalog", "--patch", '{"spec":{"replicas":8,"minReadySeconds":4}}')
  kubectl("default", "create", "quota", "few-pods", "--hard=pods=3")
  kubectl("default", "create", "deployment", "preview", "--image=preview:1", "--replicas=5")
  // The charts show some minutes of work.
  for (let round = 0; round < 12; round++) {
    await wait(6000)
    kubectl("shop", "scale", "deployment", "sessions", `--replicas=${3 + ((round * 5) % 13)}`)
  }
  kubectl("shop", "set", "image", "deployment/catalog", "*=shop.example/catalog:2.0")
  for (const { colorScheme, file, hash, name, width } of shots) {
    const page = pages.get(`${colorScheme} ${width}`)
    await show(page, hash)
    if (name === "object")
      await page
        .getByText(/Scaled down replica set catalog-\w+ from \d+ to [1-9]/)
        .first()
        .waitFor()
    else await wait(1500)
    await page.screenshot({ path: join(folder, file) })
  }
  await browser.close()
} finally {
  program.removeAllListeners("exit")
  program.kill("SIGTERM")
}
