import type { SandboxState } from '../state';
import type { Product } from '../types';

export interface CatalogFilter {
	search?: string | undefined;
	categories?: string | undefined;
	status?: string | undefined;
}

/** Filters the catalog (section "GET /products") and remembers recent results for their pages. */
export class CatalogSearch {
	private results = new Map<string, Product[]>();
	private folded: Array<{ hash: string; title: string }> | undefined;
	private version = -1;

	constructor(private readonly state: SandboxState) {}

	find(filter: CatalogFilter): Product[] {
		if (this.version !== this.state.catalogVersion) this.forget();
		const { search, categories, status } = filter;
		if (!search && !categories && !status) return this.state.products;
		const key = JSON.stringify([search, categories, status]);
		const known = this.results.get(key);
		if (known) return known;
		const found = this.filter(filter);
		if (this.results.size > 50) this.results.clear();
		this.results.set(key, found);
		return found;
	}

	private filter({ search, categories, status }: CatalogFilter): Product[] {
		const wanted = categories ? new Set(categories.split(',').map((id) => id.trim())) : undefined;
		const needle = search ? fold(search) : undefined;
		const folded = needle === undefined ? [] : this.foldedCatalog();
		return this.state.products.filter((product, index) => {
			if (status && String(product.status) !== status) return false;
			if (wanted && !wanted.has(String(product.id_category))) return false;
			if (needle === undefined) return true;
			const text = folded[index];
			return text !== undefined && (text.title.includes(needle) || text.hash.includes(needle));
		});
	}

	private foldedCatalog(): Array<{ hash: string; title: string }> {
		this.folded ??= this.state.products.map(({ hash, title }) => ({ hash, title: fold(title) }));
		return this.folded;
	}

	private forget(): void {
		this.results.clear();
		this.folded = undefined;
		this.version = this.state.catalogVersion;
	}
}

/** Letters without case and accents: the collation such services run on compares that way. */
function fold(text: string): string {
	return text
		.normalize('NFD')
		.replace(/\p{Diacritic}/gu, '')
		.toLowerCase();
}
