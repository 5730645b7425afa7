import { readServiceWords, saysFailure } from '../../../nodes/DigitalSales/api/schemas/error';
import { readResource } from '../../../nodes/DigitalSales/api/schemas/resource';
import { readRateLimitHeaders } from '../../../nodes/DigitalSales/api/response';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { BODY_FIELDS, differences, DOCUMENTED, type Differences } from './documented';
import {
	confirmed,
	contradicted,
	together,
	untold,
	type Created,
	type Evidence,
	type Finding,
} from './finding';
import { isAnswered, isSuccess, type Answer } from './service';

const DOCUMENTED_LIMIT = 20;
const NOT_ASKED = 'only --charge or --offer can tell';

/** Whether each object has the documented shape; the fields beyond it are another row. */
export function successes(evidence: Evidence): Finding {
	const { list, transactions, charge, offer } = evidence;
	const parts: Finding[] = [];
	if (list.page) parts.push(confirmed(`a list of products comes with ${list.answer.status}`));
	else parts.push(contradicted(`GET /products is answered with ${list.answer.status} and no list`));
	for (const { answer, transaction } of transactions) {
		if (transaction) parts.push(resourceIn('a transaction', answer));
		else if (isSuccess(answer)) {
			parts.push(
				contradicted(`a transaction is answered with ${answer.status} and cannot be read`),
			);
		}
	}
	for (const created of [charge, offer]) {
		if (!created || !isSuccess(created.answer) || saysFailure(created.answer.json)) continue;
		const { answer } = created;
		if (readResource(answer.json)) parts.push(resourceIn(answer.endpoint, answer));
		else
			parts.push(contradicted(`${answer.endpoint} is answered with ${answer.status} and no hash`));
	}
	const { other } = differencesIn(evidence);
	return together([...parts, ...other.map(contradicted)], NOT_ASKED);
}

function resourceIn(what: string, { status, json }: Answer): Finding {
	return confirmed(
		`${what} comes ${readResource(json) === json ? 'bare' : 'wrapped'} with ${status}`,
	);
}

/** How everything that was read differs from the document. */
export function differencesIn({ products, transactions, charge, offer }: Evidence): Differences {
	const created = (answer: Created | undefined): unknown =>
		answer && isSuccess(answer.answer) ? readResource(answer.answer.json) : undefined;
	const found = [
		...products.map((product) => differences('product', DOCUMENTED.product, product)),
		...transactions.flatMap(({ transaction }) =>
			transaction ? [differences('transaction', DOCUMENTED.readTransaction, transaction.json)] : [],
		),
		...[created(charge)].flatMap((json) =>
			json ? [differences('created transaction', DOCUMENTED.createdTransaction, json)] : [],
		),
		...[created(offer)].flatMap((json) =>
			// One that does not recur was seen without its interval.
			isJsonObject(json)
				? [differences('created offer', DOCUMENTED.offer, { interval: null, ...json })]
				: [],
		),
	];
	return {
		further: [...new Set(found.flatMap(({ further }) => further))],
		other: [...new Set(found.flatMap(({ other }) => other))],
	};
}

/** Whether failures can be told from successes, and say why. */
export function failures({ unknownHash, noToken, charge, offer }: Evidence): Finding {
	const refused = posts({ charge, offer }).filter(({ answer }) => !isSuccess(answer));
	const failing = [
		{ what: 'a read of an unknown hash', answer: unknownHash.answer },
		{ what: 'a request without a token', answer: noToken },
		...refused.map(({ answer }) => ({ what: answer.endpoint, answer })),
	].filter(({ answer }) => isAnswered(answer));
	const parts = failing.map(({ what, answer }) => failure(what, answer));
	if (isAnswered(noToken) && ![401, 403].includes(noToken.status)) {
		parts.push(
			contradicted(`a request without a token is answered with ${noToken.status}, not 401 or 403`),
		);
	}
	return together(parts, NOT_ASKED);
}

function failure(what: string, answer: Answer): Finding {
	const { status, json } = answer;
	const { messages, fields } = readServiceWords(json);
	if (isSuccess(answer) && !saysFailure(json)) {
		return contradicted(`${what} is answered with ${status} and nothing says that it failed`);
	}
	if (messages.length + Object.keys(fields).length === 0) {
		return contradicted(
			`${what} is answered with ${statusOf(answer)} and no words that can be read`,
		);
	}
	return confirmed(`${what} is answered with ${status} and words`);
}

/** Whether the service states 20 a minute where the package looks for it. */
export function accountLimit({ list, service }: Evidence): Finding {
	const { limit } = readRateLimitHeaders(list.answer.headers);
	const others = Object.keys(list.answer.headers).filter((name) => /rate-?limit/i.test(name));
	const limited = service.answers.filter(({ status }) => status === 429);
	const parts: Finding[] = limited.map(({ endpoint, headers }) => {
		const names = Object.keys(headers).filter((name) => /^retry-after$|rate-?limit/i.test(name));
		const carries =
			names.length === 0 ? 'says nothing of the limit' : `carries ${names.join(', ')}`;
		const text = `a 429 of ${endpoint} ${carries}`;
		return 'retry-after' in headers || 'x-ratelimit-reset' in headers
			? confirmed(text)
			: contradicted(`${text}, so nobody knows how long to wait`);
	});
	if (limit === undefined && others.length > 0) {
		parts.push(
			contradicted(`the limit is stated in ${others.join(', ')}, which the package does not read`),
		);
	} else if (limit !== undefined) {
		const text = `GET /products states ${limit} requests`;
		parts.push(limit === DOCUMENTED_LIMIT ? confirmed(text) : contradicted(text));
	}
	return together(parts, 'GET /products states no limit');
}

/** Whether another endpoint states a limit, which the package would learn only from a 429. */
export function otherLimits({
	unknownHash,
	noToken,
	transactions,
	charge,
	offer,
}: Evidence): Finding {
	const answers = [unknownHash.answer, noToken, ...transactions.map(({ answer }) => answer)];
	for (const created of [charge, offer]) if (created) answers.push(created.answer);
	return together(
		answers.flatMap(({ endpoint, headers }) => {
			const { limit } = readRateLimitHeaders(headers);
			return limit === undefined ? [] : [contradicted(`${endpoint} states ${limit} requests`)];
		}),
		'no other endpoint states a limit, and none is provoked',
	);
}

/** Which fields the service demands beyond those that were sent. */
export function requiredFields(evidence: Evidence): Finding {
	return together(
		posts(evidence).map(({ answer }) => {
			const fields = demandedIn(answer);
			if (fields.length > 0) return contradicted(`${answer.endpoint} demands ${fields.join(', ')}`);
			return isSuccess(answer)
				? confirmed(`${answer.endpoint} is content with the fields of a filled-in form`)
				: untold(`${answer.endpoint} was refused (${statusOf(answer)}) for another reason`);
		}),
		NOT_ASKED,
	);
}

/** Whether a body needs fields that the document does not list. */
export function furtherFields(evidence: Evidence): Finding {
	const undocumented = posts(evidence).flatMap(({ answer }) =>
		demandedIn(answer).filter((field) => !BODY_FIELDS.has(field.replace(/\.\d+/g, ''))),
	);
	const parts = undocumented.map((field) => contradicted(`a field ${field} is demanded`));
	const { charge } = evidence;
	const sent = charge?.body.webhook_url;
	const json = charge && isSuccess(charge.answer) ? readResource(charge.answer.json) : undefined;
	if (json && sent !== undefined && json.postback_url !== sent) {
		parts.push(
			contradicted('the address sent as webhook_url is not the postback_url of the answer'),
		);
	}
	for (const { answer } of posts(evidence)) {
		if (isSuccess(answer)) parts.push(confirmed(`${answer.endpoint} demands none`));
	}
	return together(parts, NOT_ASKED);
}

function posts({ charge, offer }: Pick<Evidence, 'charge' | 'offer'>): Created[] {
	return [charge, offer].filter((created) => created !== undefined);
}

/** The fields that an answer says are missing. */
function demandedIn({ json }: Answer): string[] {
	const { messages, fields } = readServiceWords(json);
	const texts = [...messages, ...Object.values(fields).flat()].filter((text) =>
		/required|obrigat/i.test(text),
	);
	const keyed = Object.entries(fields).flatMap(([name, about]) =>
		about.some((text) => texts.includes(text)) ? [name] : [],
	);
	const named = texts.flatMap(
		(text) => /\b([a-z][a-z_]*(?:\.[a-z0-9_]+)*) field/.exec(text)?.[1] ?? [],
	);
	return [...new Set([...keyed, ...named])];
}

export function statusOf({ status, fault }: Answer): string {
	return status === 0 ? `no answer (${fault})` : String(status);
}
