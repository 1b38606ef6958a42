/** All of the cases. */
import type { Case } from "./validationCase.ts"
import { dataCases, serviceCases } from "./validationDataCases.ts"
import { podCases } from "./validationPodCases.ts"
import { jobCases, workloadCases } from "./validationWorkloadCases.ts"

export const cases: ReadonlyArray<Case> = [...podCases, ...workloadCases, ...jobCases, ...serviceCases, ...dataCases]
