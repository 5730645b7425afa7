import type { IDataObject } from 'n8n-workflow';
import { searchKey } from '../../../nodes/DigitalSales/domain/text';
import { saysFailure } from '../../../nodes/DigitalSales/api/schemas/error';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import {
	confirmed,
	contradicted,
	type Evidence,
	type Filtered,
	type Finding,
	LARGE_PAGE,
	type Listed,
	together,
	untold,
} from './finding';
import { isAnswered, isSuccess, statusOf } from './service';

const EMPTY = 'the catalog gives no occasion to ask';

/** Whether each query parameter changes the answer as it should. */
export function queryNames(evidence: Evidence): Finding {
	const { list, single, second, search, status, categories } = evidence;
	// A service may answer a page beyond the last with the last one, or with 404.
	const isPageTried = second && (hasSecondPage(list) || (second.page && !isSame(list, second)));
	const tried: Array<[string, Listed | undefined, (hashes: string[]) => boolean]> = [
		['per_page', single, (hashes) => hashes.length === 1],
		['page', isPageTried ? second : undefined, () => true],
		['search', search, (hashes) => hashes.includes(search?.wanted.hash ?? '')],
		['status', status, () => allOf(status, (product) => product.status)],
		['categories', categories, () => foundCategories(categories)],
	];
	const untried = tried.filter(([, sent]) => !sent).map(([name]) => name);
	return together(
		[
			...tried.flatMap(([name, sent, isRight]) =>
				sent ? [parameter(list, name, sent, isRight)] : [],
			),
			...(untried.length > 0 ? [untold(`this catalog cannot tell of ${untried.join(', ')}`)] : []),
			...pageNameInLinks(evidence),
		],
		EMPTY,
	);
}

function parameter(
	list: Listed,
	name: string,
	sent: Listed,
	isRight: (hashes: string[]) => boolean,
): Finding {
	const hashes = hashesOf(sent);
	if (!isAnswered(sent.answer)) return untold(`${name} is answered with ${outcomeOf(sent)}`);
	if (!hashes) return contradicted(`${name} is answered with ${outcomeOf(sent)}`);
	if (isSame(list, sent)) return contradicted(`${name} changes nothing`);
	return isRight(hashes)
		? confirmed(`${name} changes the answer as it should`)
		: contradicted(`${name} changes the answer, but not to the products asked for`);
}

function isSame(one: Listed, other: Listed): boolean {
	return String(hashesOf(one)) === String(hashesOf(other));
}

function hasSecondPage({ page }: Listed): boolean {
	if (!page) return false;
	const { data, hasNext, lastPage = 1, total = 0 } = page;
	return hasNext === true || lastPage > 1 || total > data.length;
}

/** Whether all products that were found have a value that was asked for. */
function allOf<T>(
	found: Filtered<T> | undefined,
	valueOf: (product: IDataObject) => unknown,
): boolean {
	const wanted: unknown[] = [found?.wanted].flat();
	return found?.page?.data.every((product) => wanted.includes(Number(valueOf(product)))) ?? false;
}

function foundCategories(found: Evidence['categories']): boolean {
	const categoryOf = (product: IDataObject): number => Number(product.id_category);
	const seen = new Set(found?.page?.data.map(categoryOf));
	return allOf(found, categoryOf) && (found?.wanted.every((id) => seen.has(id)) ?? false);
}

/** The links of a page show what the service calls its page number. */
function pageNameInLinks({ list: { answer, page }, shown }: Evidence): Finding[] {
	const links = page && isJsonObject(answer.json) ? answer.json.links : undefined;
	const link = isJsonObject(links) ? (links.next ?? links.last) : undefined;
	if (typeof link !== 'string' || !URL.canParse(link)) return [];
	const names = [...new URL(link).searchParams.keys()];
	if (names.length === 0) return [];
	return names.includes('page')
		? [confirmed('the links of a page use page')]
		: [contradicted(`the links of a page use ${names.map(shown).join(', ')} and not page`)];
}

/** What the service sends if it is asked for the largest page that the package asks for. */
export function pageSize({ list, single, large }: Evidence): Finding {
	if (!large) return untold(EMPTY);
	const { answer, page } = large;
	const byDefault = `${list.page?.data.length ?? 0} products came without a size`;
	if ([400, 413, 422].includes(answer.status) || saysFailure(answer.json)) {
		return confirmed(`a size of ${LARGE_PAGE} is refused (${answer.status}); ${byDefault}`);
	}
	if (!isAnswered(answer))
		return untold(`a size of ${LARGE_PAGE} is answered with ${outcomeOf(large)}`);
	if (!page) return contradicted(`a size of ${LARGE_PAGE} is answered with ${outcomeOf(large)}`);
	const { data, total } = page;
	const meta = isJsonObject(answer.json) && isJsonObject(answer.json.meta) ? answer.json.meta : {};
	const perPage = typeof meta.per_page === 'number' ? meta.per_page : undefined;
	const granted = Math.min(perPage ?? Infinity, total ?? Infinity, LARGE_PAGE);
	if (data.length > LARGE_PAGE || (Number.isFinite(perPage) && data.length !== granted)) {
		return contradicted(
			`the service states ${perPage} a page and ${total} in all, and sent ${data.length} for a size of ${LARGE_PAGE}`,
		);
	}
	const isUnderstood = !isSame(list, large) || (single?.page && !isSame(list, single));
	if (!isUnderstood) return untold('per_page was not seen to change an answer');
	const isWhole = total !== undefined && data.length >= total;
	return confirmed(
		`of ${LARGE_PAGE} asked for, ${data.length} came${isWhole ? ', the whole catalog' : ''}${perPage === undefined ? '' : `; per_page says ${perPage}`}; ${byDefault}`,
	);
}

/** Whether "cafe" finds "Café". */
export function accents({ search, plainSearch, ...evidence }: Evidence): Finding {
	if (!search || !plainSearch) return untold('no title has accents');
	for (const sent of [search, plainSearch]) {
		if (!isAnswered(sent.answer)) return untold(`a search is answered with ${outcomeOf(sent)}`);
	}
	const found = parameter(evidence.list, 'search', search, () => true);
	if (found.verdict !== 'confirmed') return untold(found.seen);
	const finds = ({ page, wanted }: typeof search): boolean =>
		page?.data.some(({ title }) => searchKey(String(title)).includes(searchKey(wanted.word))) ??
		false;
	if (!finds(search))
		return contradicted('a word with accents in the composed form (NFC) is not found');
	return finds(plainSearch)
		? confirmed('a word with accents is found in the composed form, and without its accents')
		: contradicted('a word with accents is found only with its accents');
}

export function offersOf({ offers }: IDataObject): IDataObject[] {
	return Array.isArray(offers) ? offers.filter(isJsonObject) : [];
}

function hashesOf({ page }: Listed): string[] | undefined {
	return page?.data.map(({ hash }) => String(hash));
}

function outcomeOf({ answer }: Listed): string {
	return isSuccess(answer) ? 'something that is no list of products' : statusOf(answer);
}
