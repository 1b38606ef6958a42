/** All cases of `validation.test.ts`. */
import type { Case } from "./validationCase.ts"
import { dataCases, serviceCases } from "./validationDataCases.ts"
import { podCases } from "./validationPodCases.ts"
import { jobCases, workloadCases } from "./validationWorkloadCases.ts"
import { containerCases } from "./validationContainerCases.ts"
import { autoscalerCases, ingressCases, networkPolicyCases, smallCases } from "./validationNetworkCases.ts"
import { persistentCases, volumeCases } from "./validationVolumeCases.ts"
import { webhookCases } from "./validationWebhookCases.ts"
import { replicaCases } from "./validationReplicaCases.ts"

export const cases: ReadonlyArray<Case> = [
  ...podCases,
  ...workloadCases,
  ...jobCases,
  ...serviceCases,
  ...dataCases,
  ...autoscalerCases,
  ...ingressCases,
  ...networkPolicyCases,
  ...smallCases,
  ...containerCases,
  ...volumeCases,
  ...persistentCases,
  ...webhookCases,
  ...replicaCases
]
