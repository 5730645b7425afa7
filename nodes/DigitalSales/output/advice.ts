import { RUN_AGAIN } from '../domain/text';

/** What advice about a failed item depends on. */
export interface Situation {
	/** Whether the operation creates something, which must not happen twice. */
	creates: boolean;
	/** Whether an agent has called the node. */
	isTool: boolean;
	/** On Error: Continue: the execution succeeds, and n8n offers no Retry. */
	continues: boolean;
	/** Whether another workflow has called this one: a Retry of the caller calls it again. */
	isCalled: boolean;
	isRetry: boolean;
	/** Whether n8n keeps the execution if it fails: only then is there a Retry. */
	isKept: boolean;
	/** Whether the run has other items, or the execution has created or may have created something. */
	hasOthers: boolean;
	/** Whether an earlier attempt of this execution may have created what the item asks for. */
	mayExist: boolean;
	/** What this execution has created: "item 0 is abc123". */
	created?: string[];
	/** What else it may have created: "item 1". */
	inDoubt?: string[];
}

interface Row {
	holds: (situation: Situation) => boolean;
	/** Comes before any advice. */
	warning?: string;
	/** How to run an item again without creating another twice. */
	again: string;
}

const OTHERS = 'A new execution may create again what has succeeded: ';
const ROWS: Row[] = [
	{ holds: ({ creates }) => !creates, again: RUN_AGAIN },
	{ holds: ({ isTool }) => isTool, again: 'let the agent ask again' },
	{ holds: ({ continues }) => continues, again: 'run this item again, without the others' },
	{
		holds: ({ isCalled }) => isCalled,
		warning:
			'If this sub-workflow is called again, also by a Retry of the workflow that calls it, it creates again whatever had no Order Reference: leave out what was created.',
		again: 'call this workflow again',
	},
	{
		holds: ({ isKept, isRetry, created = [] }) => isKept && (isRetry || created.length > 0),
		warning: `${OTHERS}use Retry under Executions, or leave that out.`,
		again: 'use Retry with currently saved workflow under Executions',
	},
	{
		holds: ({ created = [] }) => created.length > 0,
		warning: `${OTHERS}leave that out.`,
		again: 'run this again without that',
	},
];

/** What holds for an item: the first row that fits. */
export function adviceFor(situation: Situation | undefined): Pick<Row, 'warning' | 'again'> {
	const row = situation && ROWS.find(({ holds }) => holds(situation));
	return row ?? { again: RUN_AGAIN };
}

/** What was not sent, and what that leaves open. */
export function unsentNote(
	{ hasOthers, mayExist, continues }: Situation,
	isSending: boolean,
): string {
	const what = hasOthers ? 'This item was not sent' : 'Nothing was sent';
	if (mayExist) return `${what} now, but an earlier attempt of this execution may have succeeded.`;
	if (!hasOthers) return `${what}.`;
	if (continues) return `${what}. The other items are not affected.`;
	return isSending ? `${what}.` : `${what}, and neither was any other item of this run.`;
}
