/** GitHub's parser of workflows. It imports JSON without saying so, which Node refuses: tests load the bundle of this file. */
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser"

/** What is wrong with a workflow. */
export const errorsOf = async (content: string): Promise<ReadonlyArray<string>> => {
  const { context, value } = parseWorkflow({ name: "ci.yaml", content }, new NoOperationTraceWriter())
  if (value !== undefined) await convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}
