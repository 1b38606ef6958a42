/** The page of a report: reads its data from its document, and shows it. */
import { render } from "preact"
import type { ReportView } from "../../../testing/explore/report/html.ts"
import { Report } from "./Report.tsx"

const root = document.getElementById("app")
const data = document.getElementById("report")?.textContent ?? ""
if (root !== null && data !== "") render(<Report report={JSON.parse(data) as ReportView} />, root)
