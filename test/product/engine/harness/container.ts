import './environment';
import { Logger } from '@n8n/backend-common';
import { OutboundHttp } from '@n8n/backend-network';
import { Container } from '@n8n/di';
import { HookContext } from 'n8n-core';
import { LoggerProxy, type IWorkflowExecuteAdditionalData } from 'n8n-workflow';
import { ProcessLogs } from './logs';
import { oncePerProcess } from './environment';

/** Where everything lands that n8n and its nodes log. */
export const processLogs = oncePerProcess('logs', () => {
	const logs = new ProcessLogs();
	// Services take the logger when they are first built, so it has to be there before any of them.
	Container.set(Logger, logs.logger as unknown as Logger);
	LoggerProxy.init(logs.logger);
	// Of every node's context, which takes the services' logger otherwise.
	const context = Reflect.getPrototypeOf(HookContext.prototype) ?? {};
	Reflect.defineProperty(context, 'logger', {
		get(this: { additionalData: IWorkflowExecuteAdditionalData }) {
			return logs.loggerOf(this.additionalData);
		},
	});
	return logs;
});

/** Switches n8n's protection against requests to inner addresses (N8N_SSRF_PROTECTION_ENABLED). */
export function setSsrfProtection(enabled: boolean): void {
	const config = Reflect.get(Container.get(OutboundHttp), 'ssrfConfig') as { enabled: boolean };
	config.enabled = enabled;
}
