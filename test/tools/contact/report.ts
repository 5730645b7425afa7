import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import type { Check } from './checks';
import type { Evidence, Finding, Verdict } from './finding';
import { shapeOf } from './listen';
import { statusOf } from './service';

export type Checked = Check & Finding;

const TITLES: Record<Verdict, string> = {
	contradicted: 'Contradicted',
	confirmed: 'Confirmed',
	untold: 'Cannot be told by reading',
};

/** The report in Markdown. */
export function report(
	checked: Checked[],
	evidence: Evidence,
	whereToChange: Map<string, string>,
): string {
	const { service, heard, shown } = evidence;
	const reads = service.answers.filter(({ endpoint }) => endpoint.startsWith('GET'));
	const counts = Object.entries(TITLES).map(
		([verdict, title]) =>
			`${checked.filter((check) => check.verdict === verdict).length} ${title.toLowerCase()}`,
	);
	const sections = (['contradicted', 'confirmed', 'untold'] as const).flatMap((verdict) => {
		const rows = checked.filter((check) => check.verdict === verdict);
		if (rows.length === 0) return [];
		return [`## ${TITLES[verdict]}`, rows.map((row) => line(row, whereToChange)).join('\n')];
	});
	return [
		'# First contact',
		`${counts.join(', ')}. Requests: ${reads.length} GET, ${service.answers.length - reads.length} POST.`,
		...created(evidence),
		...notRead(evidence),
		...sections,
		...(heard?.notice
			? [
					'## Shape of the webhook',
					`Content type: ${shown(heard.notice.contentType)}. Other requests that came: ${heard.others}.`,
					fenced(shapeOf(heard.notice.content, shown)),
				]
			: []),
	].join('\n\n');
}

function line({ id, unknown, verdict, seen }: Checked, whereToChange: Map<string, string>): string {
	const change =
		verdict === 'contradicted' ? `\n  Change it in: ${whereToChange.get(unknown)}` : '';
	return `- \`${id}\` ${unknown}: ${seen}.${change}`;
}

/** What was created stays in the account, so it is never passed over. */
function created({ charge, offer }: Evidence): string[] {
	return [charge, offer].flatMap((post) => {
		if (!post) return [];
		if (post === 'none')
			return ['Nothing was charged: no active product has an offer with a price and no interval.'];
		const { answer } = post;
		const isInDoubt = answer.status === 0 || answer.status >= 500;
		const doubt = isInDoubt ? " It may have been made: check the service's dashboard." : '';
		return [`${answer.endpoint} was sent once and answered with ${statusOf(answer)}.${doubt}`];
	});
}

function notRead({ transactions }: Evidence): string[] {
	return transactions
		.filter(({ transaction }) => !transaction)
		.map(({ answer }) => `A transaction could not be read: ${statusOf(answer)}.`);
}

function fenced(value: unknown): string {
	return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

/** By the first cell of each row of docs/unknowns.md: its third cell, where it can be changed. */
export function whereToChange(): Map<string, string> {
	const page = readFileSync(path.join(ROOT, 'docs', 'unknowns.md'), 'utf8');
	// Further tables stand under headings of their own.
	const [text = ''] = page.split('\n## ');
	const rows = text.split('\n').filter((line) => line.startsWith('|'));
	const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
	// The first two are the heading and the line below it.
	return new Map(cells.slice(2).map(([, unknown = '', , where = '']) => [unknown, where]));
}
