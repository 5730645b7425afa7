import { isPrivateAddress, parseWebAddress, RUN_AGAIN } from '../domain';

/* How a failed item is run again without creating another one twice. */

/** Where an error is read, which decides how to run the item again. */
export interface Situation {
	creates: boolean;
	isTool: boolean;
	/** On Error: Continue, under which n8n offers no Retry. */
	continues: boolean;
	/** A sub-workflow. A Retry of the calling workflow calls it again. */
	isCalled: boolean;
	isRetry: boolean;
	/** n8n keeps failed executions, which a Retry needs. */
	isKept: boolean;
	hasOthers: boolean;
	/** An earlier attempt of this execution may have created the item. */
	mayExist: boolean;
	/** For example "item 0 is abc123". */
	created?: string[];
	inDoubt?: string[];
}

interface Row {
	appliesTo: (situation: Situation) => boolean;
	warning?: string;
	/** How to run the item again without creating other items twice. */
	again: string;
}

const DUPLICATES =
	'A new execution would create again the successful items that had no Order Reference, so';
const ROWS: Row[] = [
	{ appliesTo: ({ creates }) => !creates, again: RUN_AGAIN },
	{ appliesTo: ({ isTool }) => isTool, again: 'let the agent ask again' },
	{ appliesTo: ({ continues }) => continues, again: 'run this item again, without the others' },
	{
		appliesTo: ({ isCalled }) => isCalled,
		warning:
			'Another call of this sub-workflow, also by a Retry of the calling workflow, creates again everything that had no Order Reference when it was created. First remove from its input the items that this and other calls created.',
		again: 'call this workflow again',
	},
	{
		appliesTo: (situation) => situation.isKept && (situation.isRetry || hasSuccess(situation)),
		warning: `${DUPLICATES} use Retry under Executions, which sends the items as they were, or remove those items from the input.`,
		again: 'use Retry with currently saved workflow under Executions',
	},
	{
		appliesTo: hasSuccess,
		warning: `${DUPLICATES} remove those items from the input first.`,
		again: 'run this again without those items',
	},
];

function hasSuccess({ created = [] }: Situation): boolean {
	return created.length > 0;
}

export function adviceFor(situation: Situation | undefined): Pick<Row, 'warning' | 'again'> {
	const row = situation && ROWS.find(({ appliesTo }) => appliesTo(situation));
	return row ?? { again: RUN_AGAIN };
}

export function unsentNote({ hasOthers, mayExist }: Situation): string {
	const unsent = hasOthers ? 'This item was not sent' : 'Nothing was sent';
	if (!mayExist) return `${unsent}.`;

	return `${unsent} now, but an earlier attempt of this execution may have succeeded.`;
}

/** Why webhooks may not arrive at an address. */
export function unreachableHint(url: string): string | undefined {
	const address = parseWebAddress(url);
	if (!address) return undefined;

	if (isPrivateAddress(address)) {
		return `Only this machine or its network can reach ${address.host}, so webhooks arrive only if the platform runs there, too. Wait for Payment works without webhooks.`;
	}
	if (address.pathname.includes('/webhook-test/')) {
		return 'The Notification URL is a test URL, which listens only while the editor waits for a test event. For real sales, enter the production URL of the trigger.';
	}
	return undefined;
}
