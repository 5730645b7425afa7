export { setSsrfProtection } from './container';
export { postJson, sendRequest, type HttpAnswer, type HttpCall } from '../../../support/http';
export { connect, everythingIn } from './engine';
export type { NodeInput, NodeRun, RunOutcome, Surroundings, WorkflowInput } from './engine';
export type { CredentialData } from './credentials';
export type { LogEntry } from './logs';
export {
	ACTION_TYPE,
	CREDENTIAL_TYPE,
	defaultProcess,
	NodeProcess,
	TRIGGER_TYPE,
} from './nodeTypes';
export type { NodeSources } from './nodeTypes';
export { double, NO_OP_TYPE, START_TYPE } from './nodeTypes';
export { processedItems } from './processedItems';
export { crashedData } from './run';
export { runNode, runWorkflow } from './run';
export type { NodeOutcome, NodeRunOptions, RunHandle, RunOptions, WorkflowOutcome } from './run';
export { activateTrigger, PublishedTrigger, serveWebhook, type TriggerOptions } from './trigger';
export type { ParkedRun, Resumption } from './waiting';
export { runCredentialTest, runListSearch } from './methods';
export type { CredentialTestOptions, ListSearchOptions } from './methods';
