import type { IExecuteFunctions, IWebhookDescription, IWebhookFunctions } from 'n8n-workflow';

/** At the end of the path, where it keeps the address from waking a Wait node of n8n's own. */
const PATH = 'digital-sales';

/** The webhook at which a parked execution is woken. */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		responseData: 'noData',
		path: PATH,
		restartWebhook: true,
		isFullPath: true,
	},
];

/** The address at which this very execution is woken once it is parked, its signature included. */
export function resumeUrl(
	context: Pick<IExecuteFunctions | IWebhookFunctions, 'evaluateExpression'>,
	itemIndex: number,
): string {
	const url = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', itemIndex)));
	url.pathname += `/${PATH}`;
	return url.href;
}
