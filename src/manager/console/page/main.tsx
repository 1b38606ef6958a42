/** The console's page: mounts it in its document. */
import { render } from "preact"
import type { Program } from "../protocol.ts"

const Title = ({ name }: Pick<Program, "name">) => <h1>{name}</h1>

const root = document.getElementById("app")
if (root !== null) render(<Title name="Console" />, root)
