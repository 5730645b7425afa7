import {
	cartOf,
	createPix,
	type NodeSketch,
	publish,
	type Running,
	trigger,
	waitForPayment,
	webStart,
} from '../e2e/workflows';

/** Of the trigger. */
export const SALES = 'drill-sales';

/** Runs after our node, so that some crashes come when our node has already finished. */
const BUSY: NodeSketch = {
	name: 'Busy',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	parameters: { resume: 'timeInterval', amount: 0.3, unit: 'seconds' },
};

/** Webhooks wake the waiting execution, or only its looks do, or its time limit in minutes ends it soon. */
const WAITS = {
	notified: { webhooksGoTo: 'automatic', limit: 24 * 60 },
	unnotified: { webhooksGoTo: 'none', limit: 24 * 60 },
	limited: { webhooksGoTo: 'automatic', limit: 2 },
};
export const WAIT_NAMES = Object.keys(WAITS);

/** The ids of published workflows. */
export interface Workflows {
	sales: string;
	waits: string[];
}

/** Publishes the trigger, `plain` and `referenced` charges, and a charge with each kind of wait. */
export async function publishAll(n8n: Running): Promise<Workflows> {
	const add = async (name: string, ...nodes: NodeSketch[]): Promise<string> =>
		(await publish(n8n, name, [...nodes, BUSY])).id;
	const charge = (webhooksGoTo: string, orderReference = '={{ $json.body.name }}'): NodeSketch =>
		createPix({
			webhooksGoTo,
			orderReference,
			cart: cartOf(n8n.sandbox),
			customerName: '={{ $json.body.name }}',
			customerDocument: '={{ $json.body.customer }}',
		});

	await add('plain', webStart('plain'), charge('none', ''));
	await add('referenced', webStart('referenced'), charge('none'));
	const waits: string[] = [];
	for (const [name, { webhooksGoTo, limit }] of Object.entries(WAITS)) {
		const wait = waitForPayment({ timeLimit: limit, timeLimitUnit: 'minutes' });
		waits.push(await add(name, webStart(name), charge(webhooksGoTo), wait));
	}
	return { sales: await add('sales', trigger(SALES, { triggerOn: ['paid'] })), waits };
}
