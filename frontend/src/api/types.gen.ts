// Generated: `make types`.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptedDifference: {
            id: number;
            by: string;
            /** Format: date-time */
            at: string;
            reason: string;
        };
        Acknowledgement: {
            readonly id: number;
            group: components["schemas"]["GroupEnum"];
            said: unknown;
            reason: string;
            by: string;
            /** Format: date-time */
            at: string;
            withdrawn_by?: string | null;
            /** Format: date-time */
            readonly withdrawn_at: string | null;
        };
        AcknowledgementList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Acknowledgement"][];
        };
        AgentList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["AgentRow"][];
        };
        AgentRow: {
            id: number;
            name: string;
            version: string;
            is_alive: boolean;
            /** Format: date-time */
            last_seen_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            labels: string[];
            systems: string[];
            restarts: string[];
            refused_systems: components["schemas"]["RefusedSystem"][];
            job: components["schemas"]["Job"] | null;
            spool_messages: number | null;
            spool_bytes: number | null;
            refused_messages: number | null;
            free_disk_bytes: number | null;
        };
        ArticleValue: {
            slug: string;
            title: string;
            author: string;
            publisher: string;
            published: string;
            tested: string;
            address: string;
        };
        Artifact: {
            name: string;
            sha256: string;
            size: number;
            media_type: string;
            readonly address: string;
        };
        /** @enum {string} */
        Aspect: "utilization" | "saturation" | "errors";
        /** @enum {string} */
        AspectEnum: "utilization" | "saturation" | "errors";
        AttachedForm: {
            format: components["schemas"]["AttachedFormFormatEnum"];
            /** Format: uri */
            file: string;
        };
        /** @enum {string} */
        AttachedFormFormatEnum: "digests" | "pt-query-digest" | "perf-report" | "perf-script" | "hammerdb-timing" | "benchbase-histograms";
        AttachedNode: {
            name: string;
            metrics: string[];
            own: number;
            known: number;
            /** Format: double */
            interval: number;
            /** Format: double */
            moved: number;
        };
        AttachedSeries: {
            run: number;
            artifact: string;
            created: boolean;
            nodes: components["schemas"]["AttachedNode"][];
            warnings: string[];
        };
        AuditList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["AuditRow"][];
        };
        AuditRow: {
            id: number;
            /** Format: date-time */
            at: string;
            kind: components["schemas"]["AuditRowKindEnum"];
            who: string;
            credential: string;
            address: string;
            action: string;
            subject: string;
            before: string;
            after: string;
        };
        /** @enum {string} */
        AuditRowKindEnum: "person" | "token" | "agent" | "command" | "nobody";
        AwsDescription: {
            region: string;
            cluster?: string;
            instance?: string;
        };
        AwsPlace: {
            region: string;
            kind: components["schemas"]["AwsPlaceKindEnum"];
            identifier: string;
        };
        /** @enum {string} */
        AwsPlaceKindEnum: "cluster" | "instance";
        Bar: {
            group: string;
            side: string;
            color: number | null;
            /** Format: double */
            value: number;
            stated: string;
            text: string;
        };
        BarChart: {
            anchor: string;
            title: string;
            subtitle: string;
            metric_name: string;
            unit: string;
            direction_words: string;
            source: string;
            bars: components["schemas"]["Bar"][];
        };
        BaselineList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Pin"][];
        };
        /** @enum {unknown} */
        BlankEnum: "";
        BlockingDifference: {
            side: string;
            group: components["schemas"]["GroupEnum"];
            differences: [
                string,
                string,
                string
            ][];
            fingerprint: string;
            accepted: components["schemas"]["AcceptedDifference"] | null;
        };
        Bottleneck: {
            kind: components["schemas"]["Kind"];
            first: components["schemas"]["Onset"][];
            onsets: components["schemas"]["Onset"][];
            unseen: string[];
            stands: number | null;
            by_others: boolean;
        };
        Box: {
            /** Format: double */
            least: number;
            /** Format: double */
            p5: number;
            /** Format: double */
            p25: number;
            /** Format: double */
            p50: number;
            /** Format: double */
            p75: number;
            /** Format: double */
            p95: number;
            /** Format: double */
            greatest: number;
        };
        Buckets: {
            index: number[];
            low: number[];
            high: (number | null)[];
            value: number[];
            count: number[];
        };
        Campaign: {
            id: number;
            name: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: date-time */
            cancelled_at: string | null;
            systems: components["schemas"]["NamedObject"][];
            entries: components["schemas"]["EntryRow"][];
            repetitions: number;
            sessions: number;
            until: string;
            progress: components["schemas"]["Progress"];
            workloads: components["schemas"]["NamedObject"][];
            load_levels: string[];
            /** Format: double */
            warmup: number | null;
            /** Format: double */
            duration: number | null;
            readonly address: string;
        };
        CampaignDetail: {
            id: number;
            name: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: date-time */
            cancelled_at: string | null;
            systems: components["schemas"]["NamedObject"][];
            entries: components["schemas"]["EntryRow"][];
            repetitions: number;
            sessions: number;
            until: string;
            progress: components["schemas"]["Progress"];
            workloads: components["schemas"]["NamedObject"][];
            load_levels: string[];
            /** Format: double */
            warmup: number | null;
            /** Format: double */
            duration: number | null;
            readonly address: string;
            jobs: components["schemas"]["Job"][];
            obstacles: string[];
            missing: string;
        };
        CampaignList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Campaign"][];
        };
        CampaignPlan: {
            name: string;
            systems: string[];
            workloads: number[];
            load_levels: components["schemas"]["PlannedLoadLevel"][];
            repetitions: number;
            /** @default 1 */
            sessions: number;
            /**
             * Format: double
             * @default 0
             */
            warmup: number;
            until?: string;
            /** Format: double */
            duration: number;
        };
        Cancellation: {
            changed: boolean;
            state: string;
            message: string;
        };
        Cause: {
            kind: components["schemas"]["CauseKindEnum"];
            key: string;
            words: string;
            why: string;
            explains: boolean;
        };
        /** @enum {string} */
        CauseKindEnum: "resource" | "work" | "statement" | "setting";
        Caution: {
            key: string;
            head: string;
            text: string;
        };
        Cell: {
            side: string;
            level: number;
            metric: string;
            replicates: components["schemas"]["Replicate"][];
            summary: components["schemas"]["SideSummary"] | null;
            history: number;
            ratio: components["schemas"]["Ratio"] | null;
            words: string;
            more: components["schemas"]["More"][];
        };
        Change: {
            id: number;
            kind: string;
            verdict: string;
            workload: components["schemas"]["NamedSubject"];
            tool: string;
            load_level: string;
            metric: components["schemas"]["MetricShown"] | null;
            system: components["schemas"]["NamedSubject"];
            baseline: components["schemas"]["NamedSubject"] | null;
            history: number | null;
            first_run: number | null;
            slot: number | null;
            /** Format: double */
            before: number | null;
            /** Format: double */
            after: number | null;
            /** Format: double */
            ratio: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            /** Format: double */
            p: number | null;
            runs_before: number[];
            runs_after: number[];
            reason: string;
            /** Format: date-time */
            found_at: string;
            /** Format: date-time */
            judged_at: string;
            /** Format: date-time */
            gone_at: string | null;
            beneath: number | null;
            words: string;
        };
        ChangeChart: {
            anchor: string;
            color: number | null;
            data_url: string;
            clock: [
                number,
                number
            ];
            panels: components["schemas"]["ChangePanel"][];
        };
        ChangeLine: {
            run: number;
            at: number[];
            values: (number | null)[];
            statements: [
                number,
                number
            ][];
            extreme: components["schemas"]["ExtremePoint"] | null;
        };
        ChangeMark: {
            place: number;
            text: string;
            kind: string;
            title: string;
        };
        ChangePanel: {
            name: string;
            unit: string;
            range: [
                number,
                number
            ];
            lines: components["schemas"]["ChangeLine"][];
        };
        ChangeStatement: {
            number: number;
            sql: string;
            /** Format: double */
            starts_at: number;
            /** Format: double */
            ends_at: number;
            values: {
                [key: string]: number;
            };
        };
        ChangeTrial: {
            run: number;
            repetition: number;
            /** Format: date-time */
            started_at: string;
            provenance: string;
            failed_checks: string[];
            statements: components["schemas"]["ChangeStatement"][];
            values: {
                [key: string]: number;
            };
            silent: number;
        };
        ChangedTeam: {
            name: string;
            members: string[];
        };
        ChartLevel: {
            key: string;
            text: string;
            threads: number;
            /** Format: double */
            rate: number | null;
        };
        ChartMetric: {
            key: string;
            kind: string;
            label: string;
            unit: string;
            direction: components["schemas"]["Direction"];
        };
        ChartSide: {
            slug: string;
            name: string;
            position: number;
            tone: number;
        };
        Check: {
            key: string;
            title: string;
            question: string;
            status: components["schemas"]["StatusEnum"];
            evidence: string;
            limits: string;
            detail: {
                [key: string]: unknown;
            };
        };
        CheckRow: {
            verdict: components["schemas"]["RowVerdict"];
            workload_id: number;
            tool: string;
            workload: string;
            level_id: number;
            level: string;
            threads: number;
            /** Format: double */
            rate: number | null;
            metric: string;
            metric_name: string;
            unit: string;
            direction: string;
            baseline_system: string;
            system: string;
            /** Format: double */
            before: number | null;
            /** Format: double */
            after: number | null;
            runs_before: number[];
            runs_after: number[];
            /** Format: double */
            ratio: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            /** Format: double */
            p: number | null;
            /** Format: double */
            smallest: number;
            /** Format: double */
            margin: number | null;
            /** Format: double */
            worst: number | null;
            /** Format: double */
            failing: number | null;
            needed: number | null;
            sessions: [
                number,
                number
            ] | null;
            reason: string;
            origins: string[];
            primary: boolean;
            suspect: boolean;
            claim_limits: components["schemas"]["ClaimLimit"][];
            finding: number | null;
            finding_state: string;
            is_accepted: boolean;
            /** Format: date */
            accepted_until: string | null;
            accepted_why: string;
            /** Format: double */
            visible: number | null;
            compare: string;
            readonly is_coarse: boolean;
        };
        CheckedRelease: {
            platform: string;
            release: string;
            hardware: string;
            baseline: string;
            result: components["schemas"]["Result"];
            summary: string;
            why: string[];
            counts: {
                [key: string]: number;
            };
            /** Format: date-time */
            checked_at: string;
            is_pending: boolean;
            fingerprint: string;
        };
        CheckedReleaseList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["CheckedRelease"][];
        };
        ChosenRun: {
            id: number;
            label: string;
        };
        ChosenSeries: {
            run: number;
            metric: string;
            node: string;
            label: string;
            tone: number;
            dash: number;
        };
        ClaimLimit: {
            meaning: components["schemas"]["Meaning"];
            checks: string[];
            sides: string[];
            failed: number;
            runs: number;
            words: string;
        };
        /** @enum {string} */
        ClockEnum: "run" | "measured";
        ClockEvent: {
            kind: string;
            label: string;
            node: string;
            /** Format: double */
            starts_at: number;
            /** Format: double */
            ends_at: number | null;
        };
        ClockIndicator: {
            key: string;
            title: string;
            drawn: boolean;
            rows: components["schemas"]["ClockRow"][];
        };
        ClockRow: {
            title: string;
            unit: string;
            series: components["schemas"]["ClockSeries"][];
        };
        ClockSeries: {
            side: number;
            run: number;
            metric: string;
            node: string;
            /** Format: double */
            factor: number;
        };
        Collapse: {
            best_threads: number;
            threads: number;
            ratio: components["schemas"]["Estimate"];
            /** Format: double */
            p: number;
        };
        Column: {
            name: string;
            unit: string;
        };
        Commented: {
            id: number;
            kind: string;
            title: string;
            platform: components["schemas"]["NamedSubject"] | null;
            hardware_class: components["schemas"]["NamedSubject"] | null;
            schedule: components["schemas"]["NamedSubject"] | null;
            family: string;
            part: number;
            verdict: string;
            state: string;
            /** Format: double */
            largest: number | null;
            shown: components["schemas"]["Change"] | null;
            changes_count: number;
            changes_holding: number;
            reason: string;
            /** Format: date */
            accepted_until: string | null;
            owner: string;
            /** Format: date */
            due_on: string | null;
            labels: string[];
            comments: number;
            merged_into: number | null;
            /** Format: date-time */
            found_at: string;
            /** Format: date-time */
            changed_at: string;
            readonly address: string;
            release: string | null;
            baseline: string | null;
            /** Format: date-time */
            seen: string;
            changes: components["schemas"]["Change"][];
            notes: components["schemas"]["Note"][];
            links: components["schemas"]["LinkRow"][];
            repetitions: components["schemas"]["Repetition"][];
            merged: components["schemas"]["NamedSubject"][];
            next_states: string[];
            may_accept: boolean;
            may_reopen: boolean;
            not_told: string[];
        };
        CompareCharts: {
            sides: components["schemas"]["ChartSide"][];
            levels: components["schemas"]["ChartLevel"][];
            chosen: string | null;
            metrics: components["schemas"]["ChartMetric"][];
            threads: components["schemas"]["ThreadsAxis"];
            ratios: components["schemas"]["RatioAxis"];
            curves: components["schemas"]["CurveAxis"][];
            points: components["schemas"]["RatioPoint"][];
        };
        Compared: {
            workload: components["schemas"]["ComparedWorkload"];
            campaign: components["schemas"]["ComparedCampaign"] | null;
            sides: components["schemas"]["Side"][];
            levels: components["schemas"]["Level"][];
            metrics: components["schemas"]["ComparedMetric"][];
            differences: components["schemas"]["Difference"][];
            obstacles: components["schemas"]["BlockingDifference"][];
            runs: components["schemas"]["ComparedRun"][];
            notes: string[];
            cautions: components["schemas"]["Caution"][];
            cells: components["schemas"]["Cell"][];
            withheld: string[];
            claim_limits: components["schemas"]["LimitedClaims"][];
            memory?: components["schemas"]["SideMemory"][] | null;
            ladder?: components["schemas"]["LoadLevels"][] | null;
            finishing?: components["schemas"]["Finishing"] | null;
            growth?: components["schemas"]["Growing"][] | null;
            latency?: components["schemas"]["LevelLatency"][] | null;
            steadiness?: components["schemas"]["ComparedSteadiness"] | null;
            everything?: components["schemas"]["Everything"] | null;
            work?: components["schemas"]["ComparedWork"][] | null;
            corroboration?: components["schemas"]["ToolAgreement"] | null;
            cost?: components["schemas"]["ComparedCost"] | null;
            use?: components["schemas"]["ComparedUse"] | null;
        };
        ComparedCampaign: {
            id: number;
            name: string;
        };
        ComparedCost: {
            work: string;
            rate: components["schemas"]["ComparedMetric"];
            metric: components["schemas"]["ComparedMetric"];
            sides: components["schemas"]["SideCost"][];
            cells: components["schemas"]["Cell"][];
            steps: components["schemas"]["StepUp"][];
            others: components["schemas"]["OtherSize"][];
        };
        ComparedMetric: {
            key: string;
            name: string;
            unit: string;
            direction: components["schemas"]["Direction"];
            primary: boolean;
            /** Format: double */
            resolution: number;
            single_events: boolean;
        };
        ComparedPercentiles: {
            metrics: components["schemas"]["ComparedMetric"][];
            cells: components["schemas"]["Cell"][];
        };
        ComparedRun: {
            id: number;
            side: string;
            level: number;
            repetition: number;
            /** Format: date-time */
            started_at: string;
            provenance: string;
            values: {
                [key: string]: number;
            };
            left_out: string;
            failed_checks: string[];
            session: number | null;
        };
        ComparedSteadiness: {
            metric: string;
            unit: string;
            /** Format: double */
            step: number;
            metrics: components["schemas"]["ComparedMetric"][];
            cells: components["schemas"]["Cell"][];
            runs: components["schemas"]["RunSteadiness"][];
            boxes: components["schemas"]["SideBox"][];
            notes: string[];
        };
        ComparedUse: {
            sides: components["schemas"]["SideUse"][];
            pending: number;
            stated: components["schemas"]["StatedLimit"][];
        };
        ComparedWork: {
            per: string;
            metrics: components["schemas"]["ComparedMetric"][];
            resources: {
                [key: string]: string;
            };
            meanings: {
                [key: string]: string;
            };
            formulas: {
                [key: string]: string;
            };
            cells: components["schemas"]["Cell"][];
            nodes: components["schemas"]["NodeWork"][];
            not_observed: components["schemas"]["NotObserved"][];
            notes: string[];
        };
        ComparedWorkload: {
            id: number;
            tool: string;
            name: string;
            parameters: {
                [key: string]: unknown;
            };
        };
        Comparison: {
            workload: components["schemas"]["ComparedWorkload"];
            campaign: components["schemas"]["ComparedCampaign"] | null;
            sides: components["schemas"]["Side"][];
            levels: components["schemas"]["Level"][];
            metrics: components["schemas"]["ComparedMetric"][];
            differences: components["schemas"]["Difference"][];
            obstacles: components["schemas"]["BlockingDifference"][];
            runs: components["schemas"]["ComparedRun"][];
            notes: string[];
            cautions: components["schemas"]["Caution"][];
            cells: components["schemas"]["Cell"][];
            withheld: string[];
        };
        Course: {
            /** Format: double */
            at: number;
            words: string;
            node: string;
            /** Format: double */
            outage: number | null;
            recovered: boolean;
            interrupted: boolean;
            /** Format: double */
            watched: number;
            phases: components["schemas"]["TrialPhase"][];
            reached: {
                [key: string]: number;
            };
            /** Format: double */
            rejoin: number | null;
            /** Format: double */
            rejoin_outage: number | null;
            transfer: components["schemas"]["RejoinTransfer"] | null;
            /** Format: double */
            proxy: number | null;
            proxy_words: string;
            proxy_checks: {
                [key: string]: string;
            };
            counts: {
                [key: string]: number | null;
            };
            rows: components["schemas"]["WriteRows"];
        };
        CurveAxis: {
            metric: string;
            scale: components["schemas"]["ScaleEnum"];
            range: [
                number,
                number
            ];
            ticks: number[];
            texts: string[];
        };
        Delivery: {
            id: number;
            subscription: number | null;
            to: string;
            address: string;
            is_test: boolean;
            findings: components["schemas"]["NotifiedFinding"][];
            total: number;
            state: string;
            attempts: number;
            /** Format: date-time */
            made_at: string;
            /** Format: date-time */
            next_at: string | null;
            /** Format: date-time */
            sent_at: string | null;
            /** Format: date-time */
            given_up_at: string | null;
            answer: string;
        };
        DeliveryList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Delivery"][];
        };
        Difference: {
            field: string;
            label: string;
            weight: components["schemas"]["Weight"];
            values: string[];
            group: components["schemas"]["FieldGroup"];
            marks: string[];
            hidden: string;
        };
        /** @enum {string} */
        DigestEnum: "at once" | "daily" | "weekly";
        DipSpan: {
            /** Format: double */
            start: number;
            /** Format: double */
            end: number;
        };
        /** @enum {string} */
        Direction: "higher" | "lower" | "neutral";
        /** @enum {string} */
        DirectionEnum: "higher" | "lower" | "neutral";
        Distribution: {
            metric: string;
            name: string;
            unit: string;
            /** Format: double */
            starts_at: number;
            /** Format: double */
            ends_at: number;
            count: number;
            grid: string;
            buckets: components["schemas"]["Buckets"];
            quantiles: components["schemas"]["Quantile"][];
            artifact: string;
            sha256: string;
            byte_start: number;
            byte_end: number;
            parser: string;
            parser_version: string;
        };
        EditedSchedule: {
            name: string;
            plan: string;
            cron: string;
            /** @default UTC */
            zone: string;
            /**
             * Format: double
             * @default 12
             */
            patience: number;
            /** @default  */
            seen: string;
        };
        EntryRow: {
            id: number;
            workload: components["schemas"]["NamedObject"];
            load_levels: string[];
            climbs: string;
            /** Format: double */
            warmup: number;
            /** Format: double */
            duration: number;
        };
        Estimate: {
            /** Format: double */
            value: number | null;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number | null;
        };
        EventDetail: {
            kind: string;
            label: string;
            /** Format: double */
            starts_at: number;
            /** Format: double */
            ends_at: number | null;
            node: string;
            detail: {
                [key: string]: unknown;
            };
        };
        /** @enum {string} */
        EventsEnum: "found" | "reopened" | "verify" | "state" | "comment";
        Everything: {
            measured: components["schemas"]["Measured"][];
            tests: number;
            meanings: {
                [key: string]: string;
            };
        };
        Evidence: {
            runs: components["schemas"]["SideRun"][];
            use: components["schemas"]["IndicatorDifference"][];
            use_compared: number;
            pending: number;
            problem: string;
            work: components["schemas"]["WorkDifference"][];
            per: string;
            statements: components["schemas"]["StatementDifference"][];
            causes: components["schemas"]["Cause"][];
            change: number;
            settings: components["schemas"]["SettingDifference"][];
            use_sentence: string;
            claim_limits: components["schemas"]["ClaimLimit"][];
        };
        Exclusion: {
            reason: string;
            excluded_by: string;
            /** Format: date-time */
            excluded_at: string;
            ended_by: string;
            /** Format: date-time */
            ended_at: string | null;
        };
        ExclusionDescription: {
            reason: string;
        };
        ExtremePoint: {
            /** Format: double */
            at: number;
            /** Format: double */
            value: number;
            text: string;
        };
        FailoverResults: {
            groups: components["schemas"]["TrialGroup"][];
            verdicts: components["schemas"]["FaultVerdict"][];
            stated: components["schemas"]["Figure"][];
            untold: components["schemas"]["RunWithoutFault"][];
            has_more: boolean;
        };
        FailoverTrial: {
            run: number;
            /** Format: date-time */
            started_at: string;
            provenance: string;
            outcome: string;
            reason: string;
            failed_checks: string[];
            campaign: components["schemas"]["ComparedCampaign"] | null;
            course: components["schemas"]["Course"];
            doubt: string;
        };
        FaultVerdict: {
            fault: string;
            load: string;
            system: string;
            baseline: string;
            ratio: components["schemas"]["Ratio"] | null;
            words: string;
        };
        FieldError: {
            field: string;
            message: string;
            remedy?: string;
        };
        /** @enum {string} */
        FieldGroup: "hardware" | "dataset" | "workload" | "memory" | "version" | "topology" | "settings" | "variables" | "measurement" | "client" | "samplers" | "origin" | "date";
        Figure: {
            id: number;
            article: components["schemas"]["ArticleValue"];
            entry: string;
            question: string;
            workload: string;
            conditions: {
                [key: string]: unknown;
            };
            metric: string;
            direction: string;
            unit: string;
            /** Format: double */
            value: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            qualifier: string;
            side: components["schemas"]["SideValue"] | null;
            numerator: components["schemas"]["SideValue"] | null;
            denominator: components["schemas"]["SideValue"] | null;
            hardware: string;
            note: string;
            text: string;
        };
        FigureList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Figure"][];
        };
        Files: {
            run: number;
            files: components["schemas"]["Table"][];
        };
        Finding: {
            id: number;
            kind: string;
            title: string;
            platform: components["schemas"]["NamedSubject"] | null;
            hardware_class: components["schemas"]["NamedSubject"] | null;
            schedule: components["schemas"]["NamedSubject"] | null;
            family: string;
            part: number;
            verdict: string;
            state: string;
            /** Format: double */
            largest: number | null;
            shown: components["schemas"]["Change"] | null;
            changes_count: number;
            changes_holding: number;
            reason: string;
            /** Format: date */
            accepted_until: string | null;
            owner: string;
            /** Format: date */
            due_on: string | null;
            labels: string[];
            comments: number;
            merged_into: number | null;
            /** Format: date-time */
            found_at: string;
            /** Format: date-time */
            changed_at: string;
            readonly address: string;
            release: string | null;
            baseline: string | null;
            /** Format: date-time */
            seen: string;
        };
        FindingChart: {
            metric_name: string;
            unit: string;
            axis: components["schemas"]["ValueAxis"];
            sides: [
                components["schemas"]["FindingSide"],
                components["schemas"]["FindingSide"]
            ];
            band: [
                number,
                number
            ] | null;
        };
        FindingDetail: {
            id: number;
            kind: string;
            title: string;
            platform: components["schemas"]["NamedSubject"] | null;
            hardware_class: components["schemas"]["NamedSubject"] | null;
            schedule: components["schemas"]["NamedSubject"] | null;
            family: string;
            part: number;
            verdict: string;
            state: string;
            /** Format: double */
            largest: number | null;
            shown: components["schemas"]["Change"] | null;
            changes_count: number;
            changes_holding: number;
            reason: string;
            /** Format: date */
            accepted_until: string | null;
            owner: string;
            /** Format: date */
            due_on: string | null;
            labels: string[];
            comments: number;
            merged_into: number | null;
            /** Format: date-time */
            found_at: string;
            /** Format: date-time */
            changed_at: string;
            readonly address: string;
            release: string | null;
            baseline: string | null;
            /** Format: date-time */
            seen: string;
            changes: components["schemas"]["Change"][];
            notes: components["schemas"]["Note"][];
            links: components["schemas"]["LinkRow"][];
            repetitions: components["schemas"]["Repetition"][];
            merged: components["schemas"]["NamedSubject"][];
            next_states: string[];
            may_accept: boolean;
            may_reopen: boolean;
        };
        FindingList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Finding"][];
        };
        FindingSide: {
            title: string;
            tone: number;
            runs: components["schemas"]["RunPoint"][];
            /** Format: double */
            level: number | null;
            level_text: string;
        };
        Finishing: {
            amount: number;
            counts: string;
            metric: components["schemas"]["ComparedMetric"];
            cells: components["schemas"]["Cell"][];
            unfinished: number;
        };
        Fit: {
            levels: number;
            runs: number;
            one_thread: components["schemas"]["Estimate"];
            contention: components["schemas"]["Estimate"];
            coherency: components["schemas"]["Estimate"];
            knee: components["schemas"]["Estimate"];
            peak: components["schemas"]["Estimate"];
            peak_throughput: components["schemas"]["Estimate"] | null;
            few_runs: boolean;
            /** Format: double */
            deviation: number;
            deviates_at: number;
            /** Format: double */
            misfit_p: number | null;
        };
        FitCurve: {
            side: number;
            threads: number[];
            values: number[];
            low: number[];
            high: (number | null)[];
            /** Format: double */
            knee: number | null;
            /** Format: double */
            peak: number | null;
        };
        Gain: {
            level: number | null;
            levels: [
                number,
                number
            ];
            throughput: components["schemas"]["Ratio"];
            per_price: components["schemas"]["Ratio"] | null;
            per_vcpu: components["schemas"]["Ratio"] | null;
            words: string;
            vcpu_words: string;
        };
        /** @enum {string} */
        GroupEnum: "hardware" | "dataset" | "workload";
        Growing: {
            level: number;
            /** Format: double */
            shared: number;
            metrics: components["schemas"]["ComparedMetric"][];
            cells: components["schemas"]["Cell"][];
            runs: components["schemas"]["RunGrowth"][];
            notes: string[];
        };
        GrowthBand: {
            side: number;
            rows: number[];
            slowest: number[];
            fastest: number[];
        };
        GrowthChart: {
            sides: components["schemas"]["ChartSide"][];
            runs: components["schemas"]["RunGrowth"][];
            bands: components["schemas"]["GrowthBand"][];
            /** Format: double */
            shared: number;
        };
        Happening: {
            lane: components["schemas"]["LaneEnum"];
            kind: string;
            label: string;
            /** Format: double */
            starts_at: number;
            /** Format: double */
            ends_at: number | null;
            node: string;
            count: number;
        };
        HardwareClass: {
            readonly slug: string;
            name: string;
            provider?: string;
            instance_type?: string;
            vcpu?: number | null;
            /** Format: int64 */
            memory_bytes?: number | null;
            storage?: string;
            /** Format: int64 */
            storage_bytes?: number | null;
            iops?: number | null;
            /** Format: int64 */
            network_bits_per_second?: number | null;
            region?: string;
            /** Format: decimal */
            readonly usd_per_hour: string | null;
            price_source?: string;
            /** Format: date */
            price_date?: string | null;
            /** As articles call it */
            label?: string;
        };
        HardwareClassList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["HardwareClass"][];
        };
        HardwareDescription: {
            slug: string;
            name: string;
            vcpu: number;
            /** Format: int64 */
            memory_bytes: number;
            /** @default  */
            storage: string;
        };
        Health: {
            ok: boolean;
            /** Format: date-time */
            at: string;
            database: components["schemas"]["Part"];
            broker: components["schemas"]["Part"];
            migrations: components["schemas"]["Part"];
        };
        Indicator: {
            key: string;
            aspect: components["schemas"]["Aspect"];
            title: string;
            unit: string;
            metrics: string[];
            formula: string;
            limits: string;
            reason: string;
            literature: string;
            sources: {
                [key: string]: string;
            };
        };
        IndicatorDifference: {
            where: string;
            before: components["schemas"]["IndicatorValue"];
            after: components["schemas"]["IndicatorValue"];
            climbed: number;
            indicator: string;
            title: string;
            span: string;
        };
        IndicatorValue: {
            node: string;
            level: components["schemas"]["UseLevel"];
            /** Format: double */
            value: number | null;
            run: number;
            words: string;
            unit: string;
            runs: number;
            /** Format: double */
            lowest: number | null;
            /** Format: double */
            highest: number | null;
        };
        Insert: {
            number: number;
            /** Format: double */
            due: number | null;
        };
        Interruption: {
            trials: number;
            /** Format: double */
            median: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            not_recovered: number;
            /** Format: double */
            watched: number | null;
        };
        Job: {
            id: number;
            entry: number;
            system: components["schemas"]["NamedObject"];
            workload: components["schemas"]["NamedObject"];
            repetition: number;
            session: number;
            /** Format: double */
            restart_seconds: number | null;
            position: number;
            state: string;
            attempt: number;
            agent: string;
            reason: string;
            doing: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            finished_at: string | null;
            runs: components["schemas"]["RunCell"][];
            skips: components["schemas"]["SkipCell"][];
        };
        /** @enum {string} */
        KeyEnum: "detect" | "promote" | "client" | "baseline";
        /** @enum {string} */
        Kind: "limited" | "load generator first" | "nothing saturated" | "not observed" | "not judged";
        /** @enum {string} */
        LaneEnum: "phases" | "faults" | "schema" | "nodes" | "errors" | "observation" | "others";
        LatencyAxis: {
            scale: components["schemas"]["ScaleEnum"];
            range: [
                number,
                number
            ];
            ticks: number[];
            texts: string[];
        };
        LatencyChart: {
            lines: components["schemas"]["LatencyLine"][];
            values: components["schemas"]["TickedAxis"];
            one_in: components["schemas"]["TickedAxis"];
        };
        LatencyLine: {
            name: string;
            color: number | null;
            one_in: number[];
            values: number[];
            percent: number[];
            slower: number[];
        };
        LatencyPanel: {
            key: string;
            lines: components["schemas"]["PercentileLine"][];
            dots: components["schemas"]["LevelDot"][];
            axis: components["schemas"]["LatencyAxis"];
            /** Format: double */
            objective: number | null;
        };
        LeftOut: {
            run: number;
            reason: string;
        };
        Level: {
            id: number;
            threads: number;
            /** Format: double */
            rate: number | null;
        };
        LevelDot: {
            side: number;
            threads: number;
            text: string;
            run: number;
            /** Format: double */
            value: number;
            doubted: boolean;
        };
        LevelLatency: {
            level: number;
            sides: components["schemas"]["SideLatency"][];
            compared: components["schemas"]["ComparedPercentiles"] | null;
        };
        LevelLine: {
            start: number;
            end: number;
            /** Format: double */
            value: number;
            /** Format: double */
            first: number;
            /** Format: double */
            last: number;
            text: string;
        };
        LevelQuantile: {
            /** Format: double */
            percent: number;
            runs: number[];
            /** Format: double */
            value: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
        };
        LevelResult: {
            level: components["schemas"]["Level"];
            cell: components["schemas"]["Cell"];
        };
        LevelUse: {
            level: number;
            runs: number;
            judged: number;
            steps: components["schemas"]["ResourceAtLevel"][];
            readings: components["schemas"]["UseReading"][];
        };
        LimitedClaims: {
            level: number;
            metric: string;
            limits: components["schemas"]["ClaimLimit"][];
        };
        Limits: {
            /** Format: double */
            smallest: number;
            /** Format: double */
            significant: number;
            set_for: string;
        };
        LinkRow: {
            id: number;
            url: string;
            title: string;
            by: string;
            /** Format: date-time */
            at: string;
        };
        LoadLevelCharts: {
            sides: components["schemas"]["ChartSide"][];
            threads: components["schemas"]["ThreadsAxis"];
            throughput: components["schemas"]["ThroughputPanel"];
            latency: components["schemas"]["LatencyPanel"];
        };
        LoadLevelData: {
            level: number;
            threads: number;
            throughput: number[];
            response: number[];
            quantiles: components["schemas"]["LevelQuantile"][];
        };
        LoadLevelDescription: {
            threads?: number;
            /** Format: double */
            rate?: number | null;
        };
        LoadLevels: {
            side: string;
            best_threads: number | null;
            collapse: components["schemas"]["Collapse"] | null;
            saturation: components["schemas"]["Saturation"][];
            by_littles_law: boolean;
            reach: components["schemas"]["Reach"] | null;
            fit: components["schemas"]["Fit"] | null;
            refused: string;
            metric: components["schemas"]["ComparedMetric"];
            levels: components["schemas"]["LoadLevelData"][];
        };
        LoadedArticle: {
            slug: string;
            figures: number;
        };
        Machines: {
            count: number;
            roles: string[];
            hardware_class: string;
            name: string;
            vcpu: number | null;
            /** Format: double */
            usd_per_hour: number | null;
            price_source: string;
            /** Format: date */
            price_date: string | null;
        };
        Manner: {
            algorithm: string;
            lock: string;
            /** Format: double */
            hold: number;
            count: number;
            text: string;
        };
        Matrix: {
            sides: components["schemas"]["MatrixSide"][];
            campaign: components["schemas"]["ComparedCampaign"] | null;
            rows: components["schemas"]["MatrixRow"][];
            tests: number;
            tools: string[];
            notes: string[];
        };
        MatrixRow: {
            workload: components["schemas"]["ComparedWorkload"];
            level: components["schemas"]["Level"];
            metric: components["schemas"]["ComparedMetric"];
            cells: components["schemas"]["Cell"][];
        };
        MatrixSide: {
            slug: string;
            name: string;
            title: string;
            position: number;
            platform: string;
            release: string;
            hardware: string;
            runs: number;
            origins: string[];
        };
        /** @enum {string} */
        Meaning: "void" | "upper bound" | "lower bound" | "hidden difference" | "this machine only" | "uncertain";
        Measured: {
            metric: components["schemas"]["ComparedMetric"];
            baseline: components["schemas"]["Cell"];
            cell: components["schemas"]["Cell"];
            answered: boolean;
            relevant: boolean;
        };
        MeasuredRun: {
            run: number;
            /** Format: uuid */
            uid: string;
            measured: [
                number,
                number
            ] | null;
        };
        Measurement: {
            metric: string;
            name: string;
            unit: string;
            direction: string;
            /** Format: double */
            value: number;
            artifact: string;
            sha256: string;
            byte_start: number;
            byte_end: number;
            parser: string;
            parser_version: string;
        };
        Metric: {
            key: string;
            name: string;
            unit?: string;
            kind: components["schemas"]["MetricKindEnum"];
            direction: components["schemas"]["DirectionEnum"];
            resource?: string;
            aspect?: components["schemas"]["AspectEnum"] | components["schemas"]["BlankEnum"];
            description?: string;
            curated?: boolean;
            readonly formula: string;
        };
        /** @enum {string} */
        MetricKindEnum: "counter" | "gauge" | "distribution";
        MetricList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Metric"][];
        };
        MetricShown: {
            key: string;
            name: string;
            unit: string;
            direction: string;
        };
        Missing: {
            metric: string;
            node: string;
            reason: string;
        };
        MissingInRun: {
            metric: string;
            node: string;
            reason: string;
            run: number;
        };
        More: {
            side: string;
            runs: number;
            unit: string;
        };
        NamedObject: {
            id: number;
            slug: string;
            name: string;
        };
        NamedSubject: {
            id: number;
            slug: string;
            name: string;
        };
        NewAcceptance: {
            /** Format: date-time */
            seen?: string | null;
            reason: string;
            /** Format: date */
            until: string;
        };
        NewAcknowledgement: {
            side: string[];
            /** Format: int64 */
            workload: number;
            /** Format: int64 */
            campaign?: number;
            runs?: number[];
            group: components["schemas"]["GroupEnum"][];
            reason: string;
        };
        NewComment: {
            text: string;
        };
        NewDue: {
            /** Format: date-time */
            seen?: string | null;
            /** Format: date */
            due_on: string | null;
        };
        NewLabels: {
            /** Format: date-time */
            seen?: string | null;
            labels: string[];
        };
        NewLink: {
            url: string;
            /** @default  */
            title: string;
        };
        NewMerge: {
            /** Format: date-time */
            seen?: string | null;
            /** Format: int64 */
            into: number;
        };
        NewOwner: {
            /** Format: date-time */
            seen?: string | null;
            owner: string | null;
        };
        NewPin: {
            system: string;
            /** @default  */
            note: string;
        };
        NewRepetitions: {
            /** Format: date-time */
            seen?: string | null;
            repetitions?: number | null;
        };
        NewSaved: {
            title: string;
            /** @default  */
            note: string;
            side: string[];
            /** Format: int64 */
            workload: number;
            /** Format: int64 */
            campaign?: number;
            runs?: number[];
            acknowledged?: string[];
        };
        NewSignOff: {
            platform: string;
            release: string;
            hardware: string;
            /** @default  */
            note: string;
            fingerprint?: string;
        };
        NewSplit: {
            /** Format: date-time */
            seen?: string | null;
            changes: number[];
        };
        NewState: {
            /** Format: date-time */
            seen?: string | null;
            state: string;
            /** @default  */
            reason: string;
        };
        NewSubscription: {
            /** Format: int64 */
            team: number;
            kind: components["schemas"]["NewSubscriptionKindEnum"];
            /** @default  */
            address: string;
            /** @default  */
            secret: string;
            asks?: {
                [key: string]: unknown;
            };
            events: components["schemas"]["EventsEnum"][];
            /** @default at once */
            digest: components["schemas"]["DigestEnum"];
            /** @default 7 */
            hour: number;
            /** @default UTC */
            zone: string;
            /** @default true */
            is_enabled: boolean;
        };
        /** @enum {string} */
        NewSubscriptionKindEnum: "e-mail" | "webhook" | "slack" | "teams" | "mattermost";
        NewTeam: {
            name: string;
            members?: string[];
        };
        Node: {
            name: string;
            role: components["schemas"]["RoleEnum"];
            zone?: string;
            readonly hardware_class: string;
        };
        NodeClock: {
            level: string;
            sides: components["schemas"]["ChartSide"][];
            indicators: components["schemas"]["ClockIndicator"][];
        };
        NodeDescription: {
            name: string;
            /** @default writer */
            role: components["schemas"]["RoleEnum"];
            /** @default  */
            zone: string;
            hardware_class?: string;
        };
        NodeDetail: {
            name: string;
            role: string;
            samples: number;
            variables: {
                [key: string]: string;
            } | null;
        };
        NodeWork: {
            side: string;
            level: number;
            node: string;
            role: string;
            metric: string;
            /** Format: double */
            value: number;
            runs: number;
        };
        NotObserved: {
            side: string;
            metric: string;
            reason: string;
        };
        Note: {
            id: number;
            what: string;
            by: string;
            /** Format: date-time */
            at: string;
            text: string;
            detail: {
                [key: string]: unknown;
            };
            mentions: string[];
            sentence: string;
        };
        NotifiedFinding: {
            id: number;
            title: string;
        };
        /** @enum {string} */
        ObjectiveState: "within" | "beyond" | "inconclusive" | "too few repetitions" | "not observed";
        OneDelivery: {
            id: number;
            subscription: number | null;
            to: string;
            address: string;
            is_test: boolean;
            findings: components["schemas"]["NotifiedFinding"][];
            total: number;
            state: string;
            attempts: number;
            /** Format: date-time */
            made_at: string;
            /** Format: date-time */
            next_at: string | null;
            /** Format: date-time */
            sent_at: string | null;
            /** Format: date-time */
            given_up_at: string | null;
            answer: string;
            said: string;
        };
        OneSeries: {
            metric: string;
            name: string;
            unit: string;
            direction: string;
            node: string;
            kind: string;
            at: number[];
            values: (number | null)[];
            resets: number[];
            /** Format: double */
            zero: number;
            nodes?: string[];
            parts?: number[];
        };
        OneSeriesOfRuns: {
            metric: string;
            name: string;
            unit: string;
            direction: string;
            node: string;
            kind: string;
            at: number[];
            values: (number | null)[];
            resets: number[];
            /** Format: double */
            zero: number;
            nodes?: string[];
            parts?: number[];
            run: number;
        };
        Onset: {
            resource: string;
            threads: number;
            share: components["schemas"]["RepetitionShare"];
            reading: components["schemas"]["UseReading"];
            nodes: string[];
            others: string[];
            watched: number;
            holds: number | null;
            /** Format: double */
            grew: number | null;
        };
        OtherSize: {
            of: string;
            system: string;
            name: string;
            hardware: string;
        };
        /** @enum {string} */
        OutcomeEnum: "succeeded" | "failed";
        OwnAddress: {
            address: string;
        };
        PageData: {
            "change-charts": components["schemas"]["ChangeChart"][];
            "clock-data": components["schemas"]["NodeClock"];
            "compare-data": components["schemas"]["CompareCharts"];
            "finding-chart": components["schemas"]["FindingChart"];
            "growth-data": components["schemas"]["GrowthChart"];
            "latency-data": components["schemas"]["LatencyChart"];
            "load-levels-data": components["schemas"]["LoadLevelCharts"];
            "published-charts": components["schemas"]["BarChart"][];
            "run-data": components["schemas"]["RunPageData"];
            "seconds-data": components["schemas"]["SecondsCharts"];
            "steadiness-data": components["schemas"]["SteadinessChart"];
            "timeline-data": components["schemas"]["TimelinePageData"];
            "trend-charts": components["schemas"]["TrendChart"][];
            "work-data": components["schemas"]["WorkChart"];
        };
        PanelNode: {
            name: string;
            role: string;
        };
        Part: {
            ok: boolean;
            message: string;
        };
        Parts: {
            memory?: components["schemas"]["SideMemory"][] | null;
            ladder?: components["schemas"]["LoadLevels"][] | null;
            finishing?: components["schemas"]["Finishing"] | null;
            growth?: components["schemas"]["Growing"][] | null;
            latency?: components["schemas"]["LevelLatency"][] | null;
            steadiness?: components["schemas"]["ComparedSteadiness"] | null;
            everything?: components["schemas"]["Everything"] | null;
            work?: components["schemas"]["ComparedWork"][] | null;
            corroboration?: components["schemas"]["ToolAgreement"] | null;
            cost?: components["schemas"]["ComparedCost"] | null;
            use?: components["schemas"]["ComparedUse"] | null;
        };
        PercentileLine: {
            side: number;
            percentile: string;
            threads: number[];
            values: number[];
        };
        Pin: {
            workload: number;
            system: string;
            system_name: string;
            note: string;
            by: string;
            /** Format: date-time */
            at: string;
        };
        PlannedLoadLevel: {
            threads: number;
            /** Format: double */
            rate?: number | null;
        };
        PlannedWorkload: {
            /** Format: double */
            warmup: number;
            /** Format: double */
            duration: number;
            workload: string;
            systems: string[];
            load_levels: string[];
        };
        Platform: {
            readonly slug: string;
            name: string;
            replication?: string;
            description?: string;
            color?: number | null;
        };
        PlatformList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Platform"][];
        };
        Pool: {
            level: number;
            runs: number;
            filled_first: components["schemas"]["RunSpread"] | null;
            filled_last: components["schemas"]["RunSpread"] | null;
            dirty_first: components["schemas"]["RunSpread"] | null;
            dirty_last: components["schemas"]["RunSpread"] | null;
            hits_first: components["schemas"]["RunSpread"] | null;
            hits_last: components["schemas"]["RunSpread"] | null;
        };
        PriceDescription: {
            /** Format: decimal */
            usd_per_hour: string | null;
            /** @default  */
            source: string;
            /** Format: date */
            date?: string | null;
        };
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            errors?: components["schemas"]["FieldError"][];
        };
        Progress: {
            jobs: number;
            jobs_done: number;
            jobs_active: number;
            jobs_failed: number;
            jobs_cancelled: number;
            runs: number;
            runs_done: number;
            runs_skipped: number;
            runs_excluded: number;
            runs_doubted: number;
            /** Format: double */
            runs_per_hour: number | null;
            /** Format: double */
            remaining_seconds: number | null;
            by_plan: boolean;
            state: string;
        };
        /** @enum {string} */
        ProvenanceEnum: "agent" | "submitted" | "example" | "rig";
        PublishedResult: {
            says: string;
            sentence: string;
            workload: string;
            conditions: string;
            hardware: string;
            note: string;
            article: string;
            by: string;
            published: string;
        };
        Quantile: {
            /** Format: double */
            percentile: number;
            /** Format: double */
            value: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number | null;
            beyond: number;
        };
        Quantity: {
            key: string;
            name: string;
            unit: string;
            meaning: string;
            direction: string;
        };
        QuantityDifference: {
            /** Format: double */
            before: number;
            /** Format: double */
            after: number;
            /** Format: double */
            ratio: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            words: string;
        };
        QuantityRange: {
            quantity: components["schemas"]["Quantity"];
            count: number;
            /** Format: double */
            median: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            missing: string;
        };
        Ratio: {
            verdict: components["schemas"]["Verdict"];
            /** Format: double */
            value: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            /** Format: double */
            p: number | null;
            /** Format: double */
            cautious_p: number | null;
            /** Format: double */
            adjusted_p: number | null;
            /** Format: double */
            delta: number | null;
            needed: number | null;
            few_runs: boolean;
            reason: string;
            /** Format: double */
            systematic: number;
            replicates: components["schemas"]["Replicates"];
            counts: [
                number,
                number
            ] | null;
            /** Format: double */
            freedom: number | null;
            /** Format: double */
            upper_share: number | null;
            within_margin: boolean;
        };
        RatioAxis: {
            band: [
                number,
                number
            ];
            range: [
                number,
                number
            ];
            ticks: number[];
            texts: string[];
        };
        RatioPoint: {
            metric: string;
            side: number;
            level: string;
            threads: number;
            /** Format: double */
            rate: number | null;
            /** Format: double */
            value: number;
            value_text: string;
            /** Format: double */
            lowest: number;
            /** Format: double */
            highest: number;
            runs: components["schemas"]["Replicate"][];
            /** Format: double */
            ratio: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            bar: [
                number,
                number
            ] | null;
            cut: [
                boolean,
                boolean
            ];
            ratio_text: string;
            words: string;
        };
        Reach: {
            /** Format: double */
            percent: number;
            /** Format: double */
            limit: number;
            levels: components["schemas"]["Rested"][];
            last_within: number | null;
            first_beyond: number | null;
        };
        Reading: {
            aspect: components["schemas"]["Aspect"];
            unit: string;
            indicator: string;
            node: string;
            level: components["schemas"]["UseLevel"];
            /** Format: double */
            value: number | null;
            words: string;
            metric: string;
            resource: string;
            /** Format: double */
            peak: number | null;
            spans: [
                number,
                number
            ][];
        };
        RefusedSystem: {
            slug: string;
            reason: string;
        };
        RegisteredSystem: {
            readonly slug: string;
            name: string;
            short_name: string;
            readonly platform: string;
            readonly version: string;
            readonly hardware_class: string;
            endpoint?: string;
            readonly settings: {
                [key: string]: string;
            };
            readonly labels: string[];
            readonly nodes: components["schemas"]["Node"][];
            readonly aws: components["schemas"]["AwsPlace"] | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            archived_at?: string | null;
            warnings: string[];
        };
        RejoinTransfer: {
            kind: string;
            method: string;
            file_bytes: number | null;
            writesets: number;
            received_bytes: number | null;
            words: string;
        };
        Release: {
            readonly id: number;
            readonly platform: string;
            version: string;
            /** Format: date */
            released_on?: string | null;
        };
        ReleaseCheck: {
            platform: string;
            release: string;
            baseline: string;
            hardware: string;
            hardware_name: string;
            lines: components["schemas"]["SystemPair"][];
            rows: components["schemas"]["CheckRow"][];
            tests: number;
            result: components["schemas"]["Result"];
            why: string[];
            notes: string[];
            /** Format: double */
            tolerance: number;
            /** Format: date-time */
            checked_at: string;
            counts: {
                [key: string]: number;
            };
            title: string;
            summary: string;
            readonly address: string;
        };
        ReleaseList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Release"][];
        };
        Reopening: {
            /** Format: date-time */
            seen?: string | null;
            /** @default  */
            reason: string;
        };
        RepeatPlan: {
            entries: components["schemas"]["PlannedWorkload"][];
            repetitions: number;
            why: string;
            jobs: number;
            runs: number;
            /** Format: double */
            seconds: number;
            under_way: number | null;
        };
        Repetition: {
            campaign: number;
            name: string;
            asked_by: string;
            /** Format: date-time */
            asked_at: string;
            progress: components["schemas"]["Progress"];
        };
        RepetitionShare: {
            saturated: number;
            judged: number;
        };
        Replicate: {
            run: number;
            /** Format: double */
            value: number;
        };
        /** @enum {string} */
        Replicates: "runs" | "sessions" | "sessions with both sides" | "runs of one session" | "blocks of one session";
        Resource: {
            key: string;
            title: string;
            layer: string;
            question: string;
            indicators: components["schemas"]["Indicator"][];
        };
        ResourceAtLevel: {
            resource: string;
            level: components["schemas"]["UseLevel"];
            share: components["schemas"]["RepetitionShare"];
        };
        ResourceLevel: {
            resource: string;
            title: string;
            layer: string;
            level: components["schemas"]["UseLevel"];
            whole: components["schemas"]["Whole"][];
        };
        Rested: {
            threads: number;
            held: components["schemas"]["ObjectiveState"];
            /** Format: double */
            value: number | null;
            interval: components["schemas"]["Estimate"] | null;
            replicates: components["schemas"]["Replicates"];
        };
        /** @enum {string} */
        Result: "fine" | "regression" | "cannot tell";
        /** @enum {string} */
        RoleEnum: "writer" | "reader" | "proxy" | "manager" | "client";
        RowSpan: {
            /** Format: double */
            start: number;
            /** Format: double */
            end: number;
            /** Format: double */
            rate: number;
            /** Format: double */
            slowest: number;
            /** Format: double */
            fastest: number;
        };
        /** @enum {string} */
        RowVerdict: "worse" | "better" | "missing" | "not usable" | "verdict withheld" | "no ratio" | "too few repetitions" | "one session each" | "rate not held" | "inconclusive" | "unchanged" | "rate held";
        Run: {
            id: number;
            /** Format: date-time */
            started_at: string;
            platform: string;
            platform_name: string;
            release: string;
            release_id: number;
            hardware_name: string;
            hardware: string;
            system: string;
            system_name: string;
            system_title: string;
            repetition: number;
            state: components["schemas"]["StateEnum"];
            outcome: string;
            reason: string;
            provenance: components["schemas"]["ProvenanceEnum"];
            tags: string[];
            failed_checks: string[];
            is_excluded: boolean;
            campaign_id: number | null;
            campaign_name: string | null;
            /** Format: double */
            throughput: number | null;
            throughput_unit: string;
            /** Format: double */
            p95: number | null;
            p95_unit: string;
            workload: components["schemas"]["RunWorkload"];
            load_level: components["schemas"]["RunLoadLevel"];
            readonly address: string;
            readonly api: string;
        };
        RunCell: {
            id: number;
            threads: number;
            load_level: string;
            state: string;
            outcome: string;
            attempt: number;
            failed_checks: string[];
            is_excluded: boolean;
        };
        RunDescription: {
            format?: components["schemas"]["RunDescriptionFormatEnum"];
            system: string | components["schemas"]["SystemDescription"];
            workload: number | components["schemas"]["WorkloadDescription"];
            load_level?: components["schemas"]["LoadLevelDescription"];
            /** Format: date-time */
            started_at: string;
            /** Format: double */
            warmup?: number;
            repetition?: number;
            mapping?: unknown | null;
            tags?: string[];
            /** @default  */
            session: string;
            /** @default  */
            server_version: string;
            variables?: {
                [key: string]: string;
            } | null;
            defaults?: {
                [key: string]: string;
            } | null;
            /** @default  */
            command: string;
            host?: {
                [key: string]: string | number | boolean;
            };
            /** Format: int64 */
            data_bytes?: number | null;
            /** Format: uuid */
            uid?: string;
            /** @default succeeded */
            outcome: components["schemas"]["OutcomeEnum"];
            /** @default  */
            reason: string;
        };
        /** @enum {string} */
        RunDescriptionFormatEnum: "sysbench" | "cpu" | "memory" | "fileio" | "tpcc-mysql" | "iibench-py" | "mysqlslap" | "hammerdb" | "benchbase-summary" | "benchbase-windows" | "pgbench" | "pgbench-log" | "fio" | "go-tpc" | "ycsb" | "go-ycsb" | "failover-report" | "schema-change-report" | "own";
        RunDetail: {
            id: number;
            readonly address: string;
            readonly api: string;
            /** Format: date-time */
            started_at: string;
            workload: components["schemas"]["RunWorkload"];
            load_level: components["schemas"]["RunLoadLevel"];
            repetition: number;
            state: components["schemas"]["StateEnum"];
            outcome: string;
            reason: string;
            provenance: components["schemas"]["ProvenanceEnum"];
            tags: string[];
            failed_checks: string[];
            is_excluded: boolean;
            campaign_id: number | null;
            campaign_name: string | null;
            /** Format: uuid */
            uid: string;
            /** Format: date-time */
            ended_at: string | null;
            /** Format: date-time */
            sealed_at: string | null;
            /** Format: double */
            warmup: number;
            /** Format: double */
            duration: number | null;
            /** Format: double */
            measured_from: number | null;
            /** Format: double */
            measured_to: number | null;
            server_version: string;
            tool_version: string;
            command: string;
            host: {
                [key: string]: unknown;
            };
            parameters: {
                [key: string]: unknown;
            };
            primary_metric: string;
            system: components["schemas"]["RunSystem"];
            job_id: number | null;
            attempt: number | null;
            nodes: components["schemas"]["NodeDetail"][];
            measurements: components["schemas"]["Measurement"][];
            events: components["schemas"]["EventDetail"][];
            artifacts: components["schemas"]["Artifact"][];
            unparsed_lines: string[];
            checks: components["schemas"]["Check"][];
            exclusions: components["schemas"]["Exclusion"][];
        };
        RunDistributions: {
            run: number;
            distributions: components["schemas"]["Distribution"][];
        };
        RunForm: {
            /** Format: uri */
            output: string;
            /** Format: uri */
            series?: string | null;
            samples?: string[];
            /** Format: uri */
            mapping?: string | null;
            description?: components["schemas"]["RunDescription"];
            format?: components["schemas"]["RunFormFormatEnum"];
            system?: string;
            workload?: number;
            threads?: number;
            /** Format: double */
            rate?: number;
            /** Format: date-time */
            started_at?: string;
            /** Format: double */
            warmup?: number;
            repetition?: number;
            session?: string;
            server_version?: string;
            /** Format: uuid */
            uid?: string;
            outcome?: components["schemas"]["OutcomeEnum"];
            reason?: string;
            tag?: string[];
        };
        /** @enum {string} */
        RunFormFormatEnum: "sysbench" | "cpu" | "memory" | "fileio" | "tpcc-mysql" | "iibench-py" | "mysqlslap" | "hammerdb" | "benchbase-summary" | "benchbase-windows" | "pgbench" | "pgbench-log" | "fio" | "go-tpc" | "ycsb" | "go-ycsb" | "failover-report" | "schema-change-report" | "own";
        RunGrowth: {
            run: number;
            side: string;
            /** Format: double */
            rows: number;
            stretches: components["schemas"]["RowSpan"][];
        };
        RunList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Run"][];
        };
        RunLoadLevel: {
            text: string;
            threads: number;
            /** Format: double */
            rate: number | null;
        };
        RunPageData: {
            id: number;
            color: number;
            live: boolean;
            measured: [
                number,
                number
            ] | null;
            whole: [
                number,
                number
            ] | null;
            counters: string[];
            lanes: [
                string,
                string
            ][];
            events: components["schemas"]["Happening"][];
            latency: components["schemas"]["LatencyChart"] | null;
        };
        RunPoint: {
            id: number;
            /** Format: double */
            value: number;
            note: string;
            text: string;
        };
        RunSeries: {
            run: number;
            measured: [
                number,
                number
            ] | null;
            series: components["schemas"]["OneSeries"][];
            missing: components["schemas"]["Missing"][];
        };
        RunSpread: {
            /** Format: double */
            median: number;
            /** Format: double */
            minimum: number;
            /** Format: double */
            maximum: number;
            runs: number;
        };
        RunSteadiness: {
            run: number;
            side: string;
            level: number;
            repetition: number;
            steadiness: components["schemas"]["Steadiness"];
        };
        RunSystem: {
            slug: string;
            name: string;
            short_name: string;
            platform: string;
            release: string;
            endpoint: string;
            settings: {
                [key: string]: unknown;
            };
            hardware: components["schemas"]["HardwareClass"];
        };
        RunUse: {
            run: number;
            live: boolean;
            measured: [
                number,
                number
            ] | null;
            nodes: components["schemas"]["PanelNode"][];
            resources: components["schemas"]["ResourceLevel"][];
            readings: components["schemas"]["Reading"][];
            rules: number;
        };
        RunWithoutFault: {
            run: number;
            reason: string;
        };
        RunWorkload: {
            id: number;
            tool: string;
            name: string;
        };
        Saturation: {
            threads: number;
            base_threads: number;
            ratio: components["schemas"]["Ratio"];
        };
        Saved: {
            slug: string;
            title: string;
            note: string;
            author: string;
            /** Format: date-time */
            created_at: string;
            query: {
                [key: string]: string[];
            };
            snapshots: components["schemas"]["Snapshot"][];
            snapshot: components["schemas"]["Snapshot"];
            comparison: components["schemas"]["Comparison"] | null;
            problem: string;
            content: {
                [key: string]: unknown;
            } | null;
            out_of_date: boolean;
            changes: string[];
            readonly address: string;
            readonly parts: components["schemas"]["Parts"];
            readonly claim_limits: components["schemas"]["LimitedClaims"][];
        };
        SavedComparisonList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["SavedRow"][];
        };
        SavedRow: {
            slug: string;
            title: string;
            note: string;
            author: string;
            /** Format: date-time */
            created_at: string;
            snapshots: number;
            /** Format: date-time */
            made_at: string;
            runs: number;
            readonly address: string;
        };
        SavedWords: {
            title: string;
            note: string;
        };
        /** @enum {string} */
        ScaleEnum: "linear" | "log";
        Schedule: {
            id: number;
            name: string;
            cron: string;
            words: string;
            zone: string;
            /** Format: double */
            patience: number;
            /** Format: date-time */
            next_at: string | null;
            created_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            archived_at: string | null;
            slots: components["schemas"]["Slot"][];
            state: string;
            is_lacking: boolean;
            readonly address: string;
        };
        ScheduleDetail: {
            id: number;
            name: string;
            cron: string;
            words: string;
            zone: string;
            /** Format: double */
            patience: number;
            /** Format: date-time */
            next_at: string | null;
            created_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            archived_at: string | null;
            slots: components["schemas"]["Slot"][];
            state: string;
            is_lacking: boolean;
            readonly address: string;
            plan: string;
            seen: string;
            coming: string[];
            clock_change: string;
        };
        ScheduleList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Schedule"][];
        };
        SchemaChange: {
            operation: string;
            setting: string;
            manner: components["schemas"]["Manner"];
            system: string;
            system_name: string;
            platform: string;
            platform_name: string;
            release: string;
            hardware_name: string;
            workload: number;
            load_level: number;
            latency: string;
            ranges: components["schemas"]["QuantityRange"][];
            trials: components["schemas"]["ChangeTrial"][];
            left_out: components["schemas"]["LeftOut"][];
        };
        SchemaChanges: {
            changes: components["schemas"]["SchemaChange"][];
            campaigns: components["schemas"]["ComparedCampaign"][];
            has_more: boolean;
            stated: components["schemas"]["Figure"][];
        };
        SecondsCharts: {
            sides: components["schemas"]["ChartSide"][];
            metrics: components["schemas"]["ChartMetric"][];
            series: components["schemas"]["SecondsView"];
        };
        SecondsRun: {
            run: number;
            side: number;
            repetition: number;
            measured: [
                number,
                number
            ] | null;
            events: components["schemas"]["ClockEvent"][];
        };
        SecondsView: {
            level: string | null;
            apart: boolean;
            clock: components["schemas"]["ClockEnum"];
            runs: components["schemas"]["SecondsRun"][];
        };
        SeriesEntry: {
            metric: string;
            name: string;
            unit: string;
            direction: string;
            kind: string;
            node: string;
            resource: string;
            aspect: string;
            constant: boolean;
            /** Format: double */
            mean: number | null;
            /** Format: double */
            minimum: number | null;
            /** Format: double */
            maximum: number | null;
            resets: number;
        };
        SeriesIndex: {
            run: number;
            series: components["schemas"]["SeriesEntry"][];
        };
        SeriesOfRuns: {
            runs: components["schemas"]["MeasuredRun"][];
            series: components["schemas"]["OneSeriesOfRuns"][];
            missing: components["schemas"]["MissingInRun"][];
        };
        SeriesRun: {
            run: number;
            version: string;
            /** Format: date-time */
            started_at: string;
            /** Format: double */
            value: number;
            reset: string;
        };
        SessionPlan: {
            /** Format: double */
            difference: number;
            /** Format: double */
            power: number;
            splits: components["schemas"]["SessionSplit"][];
            is_restart_measured: boolean;
            cannot_restart: string[];
            /** Format: double */
            smallest: number;
            sentence: string;
            /** Format: double */
            between: number;
            /** Format: double */
            within: number;
            sessions_seen: number;
        };
        SessionSplit: {
            sessions: number;
            repetitions: number;
            /** Format: double */
            power: number;
            /** Format: double */
            seconds: number;
            is_chosen: boolean;
        };
        SettingDifference: {
            field: string;
            label: string;
            group: components["schemas"]["FieldGroup"];
            weight: components["schemas"]["Weight"];
            values: string[];
            hidden: string;
        };
        ShortNameDescription: {
            short_name: string;
        };
        Side: {
            slug: string;
            system: string;
            workload: components["schemas"]["ComparedWorkload"];
            name: string;
            title: string;
            position: number;
            platform: string;
            release: string;
            hardware: string;
            runs: number;
        };
        SideBox: {
            side: string;
            level: number;
            runs: number;
            box: components["schemas"]["Box"];
        };
        SideClaim: {
            side: string;
            kind: string;
            says: string;
            agree: components["schemas"]["WorkloadResult"][];
            contradict: components["schemas"]["WorkloadResult"][];
            cannot_tell: components["schemas"]["WorkloadResult"][];
            stated: components["schemas"]["PublishedResult"][];
            programs: string[];
            alone: boolean;
            witnesses: number;
            shared_sessions: boolean;
        };
        SideCost: {
            side: string;
            machines: components["schemas"]["Machines"][];
            nodes: number;
            vcpu: number | null;
            /** Format: double */
            usd_per_hour: number | null;
            unpriced: string[];
            /** Format: double */
            usd_per_month: number | null;
        };
        /** @enum {string} */
        SideEnum: "before" | "after";
        SideLatency: {
            runs: number;
            with_histogram: number;
            problem: string;
            grid: string;
            side: string;
            count: number | null;
            quantiles: components["schemas"]["Quantile"][];
        };
        SideMemory: {
            side: string;
            /** Format: double */
            memory: number | null;
            data: components["schemas"]["RunSpread"] | null;
            pool: components["schemas"]["RunSpread"] | null;
            pools: components["schemas"]["Pool"][];
            /** Format: double */
            memory_ratio: number | null;
            /** Format: double */
            pool_ratio: number | null;
        };
        SideRun: {
            id: number;
            side: components["schemas"]["SideEnum"];
            /** Format: double */
            value: number | null;
            /** Format: date-time */
            started_at: string;
            system: string;
            release: string;
            server_version: string;
            provenance: string;
            is_excluded: boolean;
            failed_checks: string[];
        };
        SideSummary: {
            count: number;
            /** Format: double */
            value: number;
            kind: string;
            /** Format: double */
            minimum: number;
            /** Format: double */
            maximum: number;
            /** Format: double */
            variation: number | null;
        };
        SideUse: {
            side: string;
            found: components["schemas"]["Bottleneck"];
            headline: string;
            evidence: string[];
            throughput: string;
            notes: string[];
            levels: components["schemas"]["LevelUse"][];
        };
        SideValue: {
            name: string;
            platform: string;
        };
        SignOff: {
            readonly id: number;
            platform: string;
            release: string;
            hardware: string;
            by: string;
            /** Format: date-time */
            readonly at: string;
            note?: string;
            seen: unknown;
            withdrawn_by?: string | null;
            /** Format: date-time */
            withdrawn_at?: string | null;
        };
        SignOffList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["SignOff"][];
        };
        SkipCell: {
            load_level: string;
            reason: string;
        };
        Slot: {
            id: number;
            /** Format: date-time */
            due_at: string;
            state: string;
            reasons: string[];
            /** Format: date-time */
            begun_at: string;
            /** Format: date-time */
            settled_at: string | null;
            campaign: number | null;
            jobs: number;
            jobs_ended: number;
            jobs_succeeded: number;
        };
        SlotList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Slot"][];
        };
        Snapshot: {
            number: number;
            /** Format: date-time */
            made_at: string;
            made_by: string;
            runs: number;
        };
        SpreadBox: {
            side: number;
            label: string;
            run: number | null;
            runs: number;
            doubted: boolean;
            box: components["schemas"]["Box"];
        };
        StaleRead: {
            place: string;
            number: number;
            /** Format: double */
            at: number;
        };
        /** @enum {string} */
        StateEnum: "open" | "ended" | "sealed";
        StatedLimit: {
            article: string;
            platform: string;
            side: string;
            workload: string;
            conditions: string;
            saturated: string[];
        };
        StatedMatrix: {
            article: components["schemas"]["ArticleValue"];
            baseline: components["schemas"]["SideValue"];
            sides: components["schemas"]["SideValue"][];
            rows: components["schemas"]["StatedTest"][];
            elsewhere: number;
        };
        StatedSchedule: {
            name: string;
            plan: string;
            cron: string;
            /** @default UTC */
            zone: string;
            /**
             * Format: double
             * @default 12
             */
            patience: number;
        };
        StatedTest: {
            test: string;
            load: string;
            metric: string;
            direction: string;
            cells: components["schemas"]["Figure"][];
        };
        StatementDifference: {
            statement: string;
            text: string;
            time: components["schemas"]["QuantityDifference"] | null;
            rows_examined: components["schemas"]["QuantityDifference"] | null;
            executions: components["schemas"]["QuantityDifference"] | null;
            /** Format: double */
            share: number | null;
        };
        /** @enum {string} */
        StatusEnum: "passed" | "failed" | "cannot_tell";
        Steadiness: {
            /** Format: double */
            step: number;
            count: number;
            /** Format: double */
            observed: number;
            box: components["schemas"]["Box"];
            /** Format: double */
            mean: number;
            /** Format: double */
            variation: number | null;
            /** Format: double */
            hiccups: number | null;
            longest: components["schemas"]["DipSpan"] | null;
            /** Format: double */
            worst: number | null;
            /** Format: double */
            worst_at: number;
        };
        SteadinessChart: {
            level: string;
            name: string;
            unit: string;
            sides: components["schemas"]["ChartSide"][];
            boxes: components["schemas"]["SpreadBox"][];
        };
        StepUp: {
            small: string;
            large: string;
            /** Format: double */
            price: number | null;
            /** Format: double */
            vcpu: number | null;
            gains: components["schemas"]["Gain"][];
        };
        SubmittedRun: {
            id: number;
            /** Format: uuid */
            uid: string;
            readonly address: string;
            readonly api: string;
            system: components["schemas"]["RunSystem"];
            workload: components["schemas"]["RunWorkload"];
            state: components["schemas"]["StateEnum"];
            outcome: string;
            reason: string;
            measurements: components["schemas"]["Measurement"][];
            format: string;
            unparsed_lines: number;
            warnings: string[];
        };
        Subscription: {
            id: number;
            team: number;
            team_name: string;
            kind: string;
            address: string;
            secret: string;
            asks: {
                [key: string]: unknown;
            };
            events: components["schemas"]["EventsEnum"][];
            digest: components["schemas"]["DigestEnum"];
            hour: number;
            zone: string;
            is_enabled: boolean;
            lacks: string;
            created_by: string;
            /** Format: date-time */
            created_at: string;
        };
        SubscriptionList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Subscription"][];
        };
        System: {
            readonly slug: string;
            name: string;
            short_name: string;
            readonly platform: string;
            readonly version: string;
            readonly hardware_class: string;
            endpoint?: string;
            readonly settings: {
                [key: string]: string;
            };
            readonly labels: string[];
            readonly nodes: components["schemas"]["Node"][];
            readonly aws: components["schemas"]["AwsPlace"] | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            archived_at?: string | null;
        };
        SystemDescription: {
            slug: string;
            name?: string;
            platform: string;
            version: string;
            hardware_class: string;
            hardware?: components["schemas"]["HardwareDescription"][];
            /** @default  */
            endpoint: string;
            settings?: {
                [key: string]: string;
            };
            nodes?: components["schemas"]["NodeDescription"][];
            aws?: components["schemas"]["AwsDescription"];
        };
        SystemList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["System"][];
        };
        SystemPair: {
            system: string;
            system_name: string;
            baseline_system: string;
            baseline_system_name: string;
            differs: string;
        };
        Table: {
            artifact: string;
            title: string;
            columns: components["schemas"]["Column"][];
            rows: unknown[][];
            total: number;
            note: string;
            unparsed_lines: string[];
            problem: string;
            format: string;
            readonly address: string;
        };
        TeamList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["TeamRow"][];
        };
        TeamRow: {
            id: number;
            name: string;
            size: number;
            members: string[];
            mute: string[];
        };
        ThreadsAxis: {
            ticks: number[];
            scale: components["schemas"]["ScaleEnum"];
            range: [
                number,
                number
            ];
        };
        Threshold: {
            id: number;
            workload: number | null;
            metric: string | null;
            /** Format: double */
            smallest: number;
            /** Format: double */
            significant: number;
            /** Format: double */
            margin: number | null;
            by: string;
            /** Format: date-time */
            at: string;
        };
        ThresholdBand: {
            start: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
        };
        ThresholdDescription: {
            /** Format: int64 */
            workload?: number | null;
            metric?: string | null;
            /** Format: double */
            smallest: number;
            /**
             * Format: double
             * @default 0.00001
             */
            significant: number;
            /** Format: double */
            margin?: number | null;
        };
        ThresholdList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Threshold"][];
        };
        ThroughputLine: {
            side: number;
            threads: number[];
            values: number[];
            texts: string[];
        };
        ThroughputPanel: {
            key: string;
            label: string;
            unit: string;
            lines: components["schemas"]["ThroughputLine"][];
            dots: components["schemas"]["LevelDot"][];
            fits: components["schemas"]["FitCurve"][];
        };
        TickedAxis: {
            range: [
                number,
                number
            ];
            ticks: number[];
            texts: string[];
        };
        Timeline: {
            run: number;
            live: boolean;
            measured: [
                number,
                number
            ] | null;
            whole: [
                number,
                number
            ] | null;
            happenings: components["schemas"]["Happening"][];
            problem: string;
        };
        TimelinePageData: {
            series: components["schemas"]["ChosenSeries"][];
            runs: components["schemas"]["ChosenRun"][];
            align: string;
            totals: boolean;
            live: boolean;
        };
        TimeoutShare: {
            who: string;
            setting: string;
            formula: string;
            /** Format: double */
            seconds: number;
        };
        ToolAgreement: {
            claims: components["schemas"]["SideClaim"][];
            tests: number;
            notes: string[];
        };
        Trend: {
            id: number;
            platform: string;
            platform_name: string;
            hardware: string;
            hardware_name: string;
            settings: string;
            tool: string;
            workload: number;
            workload_name: string;
            level: string;
            metric: string;
            metric_name: string;
            unit: string;
            direction: string;
            runs: number;
            analysed: number;
            resets: number;
            /** Format: double */
            variation: number | null;
            /** Format: double */
            effect: number | null;
            reason: string;
            changes: number;
            /** Format: date-time */
            analysed_at: string | null;
        };
        TrendBurst: {
            place: number;
            runs: number;
            /** Format: double */
            effect: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
        };
        TrendChange: {
            place: number;
            run: number;
            version: string;
            verdict: string;
            /** Format: double */
            ratio: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            /** Format: double */
            p: number | null;
            /** Format: double */
            before: number | null;
            /** Format: double */
            after: number | null;
            finding: number;
            state: string;
            /** Format: date-time */
            gone_at: string | null;
        };
        TrendChart: {
            anchor: string;
            color: number;
            metric_name: string;
            unit: string;
            axis: components["schemas"]["ValueAxis"];
            left_out: number;
            points: components["schemas"]["TrendPoint"][];
            levels: components["schemas"]["LevelLine"][];
            changes: components["schemas"]["ChangeMark"][];
            band: components["schemas"]["ThresholdBand"] | null;
        };
        TrendDetail: {
            id: number;
            platform: string;
            platform_name: string;
            hardware: string;
            hardware_name: string;
            settings: string;
            tool: string;
            workload: number;
            workload_name: string;
            level: string;
            metric: string;
            metric_name: string;
            unit: string;
            direction: string;
            runs: number;
            analysed: number;
            resets: number;
            /** Format: double */
            variation: number | null;
            /** Format: double */
            effect: number | null;
            reason: string;
            changes: number;
            /** Format: date-time */
            analysed_at: string | null;
            points: components["schemas"]["SeriesRun"][];
            changes_told: components["schemas"]["TrendChange"][];
            levels: components["schemas"]["TrendLevel"][];
            patterns: components["schemas"]["TrendPatterns"];
            threshold: components["schemas"]["Limits"];
        };
        TrendDrift: {
            /** Format: double */
            change: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
            per: string;
            /** Format: double */
            total: number;
            verdict: string;
        };
        TrendEffect: {
            name: string;
            /** Format: double */
            effect: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
        };
        TrendLevel: {
            start: number;
            end: number;
            /** Format: double */
            value: number;
        };
        TrendList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Trend"][];
        };
        TrendPatterns: {
            drift: components["schemas"]["TrendDrift"] | null;
            season: components["schemas"]["TrendSeason"] | null;
            machines: components["schemas"]["TrendEffect"][];
            bursts: components["schemas"]["TrendBurst"][];
            host: components["schemas"]["TrendEffect"][];
            sessions: components["schemas"]["TrendSessions"] | null;
        };
        TrendPoint: {
            run: number;
            version: string;
            /** Format: date-time */
            started_at: string;
            /** Format: double */
            value: number;
            reset: string;
            text: string;
        };
        TrendSeason: {
            weekdays: components["schemas"]["TrendEffect"][];
            /** Format: double */
            range: number;
            /** Format: double */
            p: number;
        };
        TrendSessions: {
            /** Format: double */
            between: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
            /** Format: double */
            within: number;
            sessions: number;
        };
        TrialGroup: {
            system: string;
            system_name: string;
            platform_name: string;
            platform: string;
            release: string;
            hardware_name: string;
            fault: string;
            fault_name: string;
            load: string;
            parameters: {
                [key: string]: unknown;
            };
            origins: string[];
            trials: components["schemas"]["FailoverTrial"][];
            interruption: components["schemas"]["Interruption"];
            phases: {
                [key: string]: components["schemas"]["TrialSpread"] | null;
            };
            rejoin: components["schemas"]["TrialSpread"] | null;
            rejoin_outage: components["schemas"]["TrialSpread"] | null;
            proxy: components["schemas"]["TrialSpread"] | null;
            counts: {
                [key: string]: [
                    number,
                    number
                ] | null;
            };
            unread: {
                [key: string]: number;
            };
            shares: components["schemas"]["TimeoutShare"][];
        };
        TrialPhase: {
            key: components["schemas"]["KeyEnum"];
            /** Format: double */
            start: number;
            /** Format: double */
            end: number;
            words: string;
        };
        TrialSpread: {
            count: number;
            /** Format: double */
            median: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
        };
        Tried: {
            concerned: number;
            looked_at: number;
            too_short: number;
            kept_apart: number;
            series: components["schemas"]["TriedSeries"][];
            releases: components["schemas"]["TriedReleases"];
            raised: number;
            new: number;
            withdrawn: number;
        };
        TriedChange: {
            place: number;
            run: number;
            version: string;
            verdict: string;
            /** Format: double */
            ratio: number;
            /** Format: double */
            low: number;
            /** Format: double */
            high: number;
            /** Format: double */
            p: number;
            is_new: boolean;
            stays: boolean;
            finding: number | null;
        };
        TriedReleases: {
            checks: number;
            rows: number;
            passed: number;
            worse: number;
            beyond: number;
        };
        TriedSeries: {
            history: components["schemas"]["Trend"];
            changes: components["schemas"]["TriedChange"][];
        };
        /** @enum {string} */
        UseLevel: "ok" | "watch" | "saturated" | "error" | "not_observable";
        UseMethod: {
            rules: number;
            /** Format: double */
            hold: number;
            /** Format: double */
            share: number;
            resources: components["schemas"]["Resource"][];
        };
        UseReading: {
            indicator: string;
            node: string;
            level: components["schemas"]["UseLevel"];
            /** Format: double */
            value: number | null;
            words: string;
            metric: string;
            readonly resource: string;
            readonly aspect: string;
            readonly unit: string;
        };
        ValueAxis: {
            range: [
                number,
                number
            ];
            ticks: number[];
            texts: string[];
            begins_at: string;
        };
        /** @enum {string} */
        Verdict: "higher" | "lower" | "equivalent" | "inconclusive" | "too few repetitions" | "no ratio" | "rate held" | "rate not held" | "not judged";
        /** @enum {string} */
        Weight: "withholds the verdict" | "important" | "minor";
        Whole: {
            aspect: components["schemas"]["Aspect"];
            level: components["schemas"]["UseLevel"];
            indicator: string;
            node: string;
            nodes: string[];
        };
        WorkChart: {
            level: string;
            per: string;
            sides: components["schemas"]["ChartSide"][];
            points: components["schemas"]["WorkPoint"][];
            ratios: components["schemas"]["RatioAxis"];
        };
        WorkDifference: {
            metric: string;
            name: string;
            unit: string;
            per: string;
            /** Format: double */
            before: number;
            /** Format: double */
            after: number;
            /** Format: double */
            ratio: number | null;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            words: string;
        };
        WorkPoint: {
            metric: string;
            name: string;
            side: number;
            /** Format: double */
            ratio: number;
            /** Format: double */
            low: number | null;
            /** Format: double */
            high: number | null;
            bar: [
                number,
                number
            ] | null;
            cut: [
                boolean,
                boolean
            ];
            ratio_text: string;
            words: string;
        };
        Workload: {
            readonly id: number;
            tool: string;
            name: string;
            readonly parameters: {
                [key: string]: unknown;
            };
            content_hash: string;
            readonly primary_metric: string;
            description?: string;
        };
        WorkloadDescription: {
            /** @default  */
            tool: string;
            parameters: {
                [key: string]: string | number | boolean;
            };
            /** @default  */
            name: string;
        };
        WorkloadList: {
            /** Format: uri */
            next: string | null;
            results: components["schemas"]["Workload"][];
        };
        WorkloadResult: {
            workload: components["schemas"]["ComparedWorkload"];
            program: string;
            metric: components["schemas"]["ComparedMetric"];
            testimony: components["schemas"]["LevelResult"][];
            says: string;
            sessions: number[];
        };
        WriteRows: {
            lost: components["schemas"]["Insert"][];
            errant: components["schemas"]["Insert"][];
            duplicated: components["schemas"]["Insert"][];
            failed_present: components["schemas"]["Insert"][];
            stale: components["schemas"]["StaleRead"][];
        };
        /** EnrolAnswer */
        EnrolAnswer: {
            agent: string;
            secret: string;
        };
        /** HelloMessage */
        HelloMessage: {
            version: string;
            /** @default [] */
            labels: string[];
            /** @default [] */
            systems: components["schemas"]["SystemMessage"][];
            /** @default [] */
            hardware: components["schemas"]["HardwareMessage"][];
            /** @default {} */
            health: Record<string, never>;
        };
        /** SystemMessage */
        SystemMessage: {
            slug: string;
            name: string;
            platform: string;
            version: string;
            hardware_class: string;
            /** @default  */
            endpoint: string;
            /** @default {} */
            settings: {
                [key: string]: string;
            };
            /** @default [] */
            nodes: components["schemas"]["NodeMessage"][];
            /** @default null */
            aws: components["schemas"]["AwsMessage"] | null;
        };
        /** NodeMessage */
        NodeMessage: {
            name: string;
            /** @default writer */
            role: string;
            /** @default  */
            zone: string;
            /** @default  */
            hardware_class: string;
        };
        /** AwsMessage */
        AwsMessage: {
            region: string;
            /** @default  */
            cluster: string;
            /** @default  */
            instance: string;
        };
        /** HardwareMessage */
        HardwareMessage: {
            slug: string;
            name: string;
            vcpu: number;
            memory_bytes: number;
            /** @default  */
            storage: string;
        };
        /** HelloAnswer */
        HelloAnswer: {
            agent: string;
            /** @default [] */
            warnings: string[];
        };
        /** JobMessage */
        JobMessage: {
            id: number;
            attempt: number;
            system: string;
            tool: string;
            workload: string;
            parameters: Record<string, never>;
            repetition: number;
            warmup: number;
            duration: number;
            lease_seconds: number;
            runs: components["schemas"]["PlannedRun"][];
            /** @default null */
            ladder: components["schemas"]["RampMessage"] | null;
            /** @default false */
            restart: boolean;
        };
        /** PlannedRun */
        PlannedRun: {
            uid: string;
            load_level: components["schemas"]["LoadLevelMessage"];
        };
        /** LoadLevelMessage */
        LoadLevelMessage: {
            threads: number;
            /** @default null */
            rate: number | null;
        };
        /** RampMessage */
        RampMessage: {
            /** @default null */
            least_gain: number | null;
        };
        /** RenewMessage */
        RenewMessage: {
            attempt: number;
            /** @default  */
            progress: string;
        };
        /** RenewAnswer */
        RenewAnswer: {
            cancel: boolean;
            lease_seconds: number;
        };
        /** RunMessage */
        RunMessage: {
            job: number;
            attempt: number;
            load_level: components["schemas"]["LoadLevelMessage"];
            started_at: string;
            warmup: number;
            duration: number;
            /** @default  */
            server_version: string;
            /** @default  */
            tool_version: string;
            /** @default  */
            command: string;
            /** @default {} */
            host: Record<string, never>;
            /** @default [] */
            nodes: components["schemas"]["RunNodeMessage"][];
            /** @default null */
            data_bytes: number | null;
            /** @default null */
            restart_seconds: number | null;
        };
        /** RunNodeMessage */
        RunNodeMessage: {
            name: string;
            /** @default  */
            role: string;
            /** @default null */
            variables: {
                [key: string]: string;
            } | null;
            /** @default null */
            defaults: {
                [key: string]: string;
            } | null;
        };
        /** RunEndMessage */
        RunEndMessage: {
            outcome: string;
            /** @default  */
            reason: string;
            ended_at: string;
            /** @default null */
            measured_from: number | null;
            /** @default null */
            measured_to: number | null;
            batches: number;
            /** @default [] */
            artifacts: components["schemas"]["ArtifactMessage"][];
        };
        /** ArtifactMessage */
        ArtifactMessage: {
            name: string;
            sha256: string;
            size: number;
        };
        /** JobEndMessage */
        JobEndMessage: {
            attempt: number;
            outcome: string;
            /** @default  */
            reason: string;
            /** @default [] */
            skipped: components["schemas"]["SkippedRun"][];
            /** @default false */
            is_permanent: boolean;
        };
        /** SkippedRun */
        SkippedRun: {
            /** Format: uuid */
            uid: string;
            reason: string;
        };
        /** FailoverMessage */
        FailoverMessage: {
            /** @default  */
            target: string;
        };
        /** FailoverAnswer */
        FailoverAnswer: {
            place: string;
            asked_at: string;
            answered_at: string;
            writer: string;
            target: string;
            status: string;
        };
        /** ClockMessage */
        ClockMessage: {
            now: number;
        };
        /** SamplingMessage */
        SamplingMessage: {
            systems: {
                [key: string]: string[];
            };
        };
        /** SamplingAnswer */
        SamplingAnswer: {
            runs: components["schemas"]["SampledRun"][];
        };
        /** SampledRun */
        SampledRun: {
            run: string;
            system: string;
            stream: number;
            zero: number;
            /** @default null */
            uncertainty: number | null;
            /** @default false */
            began: boolean;
        };
        /** StreamEndMessage */
        StreamEndMessage: {
            batches: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AcceptedDifference = components['schemas']['AcceptedDifference'];
export type Acknowledgement = components['schemas']['Acknowledgement'];
export type AcknowledgementList = components['schemas']['AcknowledgementList'];
export type AgentList = components['schemas']['AgentList'];
export type AgentRow = components['schemas']['AgentRow'];
export type ArticleValue = components['schemas']['ArticleValue'];
export type Artifact = components['schemas']['Artifact'];
export type Aspect = components['schemas']['Aspect'];
export type AspectEnum = components['schemas']['AspectEnum'];
export type AttachedForm = components['schemas']['AttachedForm'];
export type AttachedFormFormatEnum = components['schemas']['AttachedFormFormatEnum'];
export type AttachedNode = components['schemas']['AttachedNode'];
export type AttachedSeries = components['schemas']['AttachedSeries'];
export type AuditList = components['schemas']['AuditList'];
export type AuditRow = components['schemas']['AuditRow'];
export type AuditRowKindEnum = components['schemas']['AuditRowKindEnum'];
export type AwsDescription = components['schemas']['AwsDescription'];
export type AwsPlace = components['schemas']['AwsPlace'];
export type AwsPlaceKindEnum = components['schemas']['AwsPlaceKindEnum'];
export type Bar = components['schemas']['Bar'];
export type BarChart = components['schemas']['BarChart'];
export type BaselineList = components['schemas']['BaselineList'];
export type BlankEnum = components['schemas']['BlankEnum'];
export type BlockingDifference = components['schemas']['BlockingDifference'];
export type Bottleneck = components['schemas']['Bottleneck'];
export type Box = components['schemas']['Box'];
export type Buckets = components['schemas']['Buckets'];
export type Campaign = components['schemas']['Campaign'];
export type CampaignDetail = components['schemas']['CampaignDetail'];
export type CampaignList = components['schemas']['CampaignList'];
export type CampaignPlan = components['schemas']['CampaignPlan'];
export type Cancellation = components['schemas']['Cancellation'];
export type Cause = components['schemas']['Cause'];
export type CauseKindEnum = components['schemas']['CauseKindEnum'];
export type Caution = components['schemas']['Caution'];
export type Cell = components['schemas']['Cell'];
export type Change = components['schemas']['Change'];
export type ChangeChart = components['schemas']['ChangeChart'];
export type ChangeLine = components['schemas']['ChangeLine'];
export type ChangeMark = components['schemas']['ChangeMark'];
export type ChangePanel = components['schemas']['ChangePanel'];
export type ChangeStatement = components['schemas']['ChangeStatement'];
export type ChangeTrial = components['schemas']['ChangeTrial'];
export type ChangedTeam = components['schemas']['ChangedTeam'];
export type ChartLevel = components['schemas']['ChartLevel'];
export type ChartMetric = components['schemas']['ChartMetric'];
export type ChartSide = components['schemas']['ChartSide'];
export type Check = components['schemas']['Check'];
export type CheckRow = components['schemas']['CheckRow'];
export type CheckedRelease = components['schemas']['CheckedRelease'];
export type CheckedReleaseList = components['schemas']['CheckedReleaseList'];
export type ChosenRun = components['schemas']['ChosenRun'];
export type ChosenSeries = components['schemas']['ChosenSeries'];
export type ClaimLimit = components['schemas']['ClaimLimit'];
export type ClockEnum = components['schemas']['ClockEnum'];
export type ClockEvent = components['schemas']['ClockEvent'];
export type ClockIndicator = components['schemas']['ClockIndicator'];
export type ClockRow = components['schemas']['ClockRow'];
export type ClockSeries = components['schemas']['ClockSeries'];
export type Collapse = components['schemas']['Collapse'];
export type Column = components['schemas']['Column'];
export type Commented = components['schemas']['Commented'];
export type CompareCharts = components['schemas']['CompareCharts'];
export type Compared = components['schemas']['Compared'];
export type ComparedCampaign = components['schemas']['ComparedCampaign'];
export type ComparedCost = components['schemas']['ComparedCost'];
export type ComparedMetric = components['schemas']['ComparedMetric'];
export type ComparedPercentiles = components['schemas']['ComparedPercentiles'];
export type ComparedRun = components['schemas']['ComparedRun'];
export type ComparedSteadiness = components['schemas']['ComparedSteadiness'];
export type ComparedUse = components['schemas']['ComparedUse'];
export type ComparedWork = components['schemas']['ComparedWork'];
export type ComparedWorkload = components['schemas']['ComparedWorkload'];
export type Comparison = components['schemas']['Comparison'];
export type Course = components['schemas']['Course'];
export type CurveAxis = components['schemas']['CurveAxis'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryList = components['schemas']['DeliveryList'];
export type Difference = components['schemas']['Difference'];
export type DigestEnum = components['schemas']['DigestEnum'];
export type DipSpan = components['schemas']['DipSpan'];
export type Direction = components['schemas']['Direction'];
export type DirectionEnum = components['schemas']['DirectionEnum'];
export type Distribution = components['schemas']['Distribution'];
export type EditedSchedule = components['schemas']['EditedSchedule'];
export type EntryRow = components['schemas']['EntryRow'];
export type Estimate = components['schemas']['Estimate'];
export type EventDetail = components['schemas']['EventDetail'];
export type EventsEnum = components['schemas']['EventsEnum'];
export type Everything = components['schemas']['Everything'];
export type Evidence = components['schemas']['Evidence'];
export type Exclusion = components['schemas']['Exclusion'];
export type ExclusionDescription = components['schemas']['ExclusionDescription'];
export type ExtremePoint = components['schemas']['ExtremePoint'];
export type FailoverResults = components['schemas']['FailoverResults'];
export type FailoverTrial = components['schemas']['FailoverTrial'];
export type FaultVerdict = components['schemas']['FaultVerdict'];
export type FieldError = components['schemas']['FieldError'];
export type FieldGroup = components['schemas']['FieldGroup'];
export type Figure = components['schemas']['Figure'];
export type FigureList = components['schemas']['FigureList'];
export type Files = components['schemas']['Files'];
export type Finding = components['schemas']['Finding'];
export type FindingChart = components['schemas']['FindingChart'];
export type FindingDetail = components['schemas']['FindingDetail'];
export type FindingList = components['schemas']['FindingList'];
export type FindingSide = components['schemas']['FindingSide'];
export type Finishing = components['schemas']['Finishing'];
export type Fit = components['schemas']['Fit'];
export type FitCurve = components['schemas']['FitCurve'];
export type Gain = components['schemas']['Gain'];
export type GroupEnum = components['schemas']['GroupEnum'];
export type Growing = components['schemas']['Growing'];
export type GrowthBand = components['schemas']['GrowthBand'];
export type GrowthChart = components['schemas']['GrowthChart'];
export type Happening = components['schemas']['Happening'];
export type HardwareClass = components['schemas']['HardwareClass'];
export type HardwareClassList = components['schemas']['HardwareClassList'];
export type HardwareDescription = components['schemas']['HardwareDescription'];
export type Health = components['schemas']['Health'];
export type Indicator = components['schemas']['Indicator'];
export type IndicatorDifference = components['schemas']['IndicatorDifference'];
export type IndicatorValue = components['schemas']['IndicatorValue'];
export type Insert = components['schemas']['Insert'];
export type Interruption = components['schemas']['Interruption'];
export type Job = components['schemas']['Job'];
export type KeyEnum = components['schemas']['KeyEnum'];
export type Kind = components['schemas']['Kind'];
export type LaneEnum = components['schemas']['LaneEnum'];
export type LatencyAxis = components['schemas']['LatencyAxis'];
export type LatencyChart = components['schemas']['LatencyChart'];
export type LatencyLine = components['schemas']['LatencyLine'];
export type LatencyPanel = components['schemas']['LatencyPanel'];
export type LeftOut = components['schemas']['LeftOut'];
export type Level = components['schemas']['Level'];
export type LevelDot = components['schemas']['LevelDot'];
export type LevelLatency = components['schemas']['LevelLatency'];
export type LevelLine = components['schemas']['LevelLine'];
export type LevelQuantile = components['schemas']['LevelQuantile'];
export type LevelResult = components['schemas']['LevelResult'];
export type LevelUse = components['schemas']['LevelUse'];
export type LimitedClaims = components['schemas']['LimitedClaims'];
export type Limits = components['schemas']['Limits'];
export type LinkRow = components['schemas']['LinkRow'];
export type LoadLevelCharts = components['schemas']['LoadLevelCharts'];
export type LoadLevelData = components['schemas']['LoadLevelData'];
export type LoadLevelDescription = components['schemas']['LoadLevelDescription'];
export type LoadLevels = components['schemas']['LoadLevels'];
export type LoadedArticle = components['schemas']['LoadedArticle'];
export type Machines = components['schemas']['Machines'];
export type Manner = components['schemas']['Manner'];
export type Matrix = components['schemas']['Matrix'];
export type MatrixRow = components['schemas']['MatrixRow'];
export type MatrixSide = components['schemas']['MatrixSide'];
export type Meaning = components['schemas']['Meaning'];
export type Measured = components['schemas']['Measured'];
export type MeasuredRun = components['schemas']['MeasuredRun'];
export type Measurement = components['schemas']['Measurement'];
export type Metric = components['schemas']['Metric'];
export type MetricKindEnum = components['schemas']['MetricKindEnum'];
export type MetricList = components['schemas']['MetricList'];
export type MetricShown = components['schemas']['MetricShown'];
export type Missing = components['schemas']['Missing'];
export type MissingInRun = components['schemas']['MissingInRun'];
export type More = components['schemas']['More'];
export type NamedObject = components['schemas']['NamedObject'];
export type NamedSubject = components['schemas']['NamedSubject'];
export type NewAcceptance = components['schemas']['NewAcceptance'];
export type NewAcknowledgement = components['schemas']['NewAcknowledgement'];
export type NewComment = components['schemas']['NewComment'];
export type NewDue = components['schemas']['NewDue'];
export type NewLabels = components['schemas']['NewLabels'];
export type NewLink = components['schemas']['NewLink'];
export type NewMerge = components['schemas']['NewMerge'];
export type NewOwner = components['schemas']['NewOwner'];
export type NewPin = components['schemas']['NewPin'];
export type NewRepetitions = components['schemas']['NewRepetitions'];
export type NewSaved = components['schemas']['NewSaved'];
export type NewSignOff = components['schemas']['NewSignOff'];
export type NewSplit = components['schemas']['NewSplit'];
export type NewState = components['schemas']['NewState'];
export type NewSubscription = components['schemas']['NewSubscription'];
export type NewSubscriptionKindEnum = components['schemas']['NewSubscriptionKindEnum'];
export type NewTeam = components['schemas']['NewTeam'];
export type Node = components['schemas']['Node'];
export type NodeClock = components['schemas']['NodeClock'];
export type NodeDescription = components['schemas']['NodeDescription'];
export type NodeDetail = components['schemas']['NodeDetail'];
export type NodeWork = components['schemas']['NodeWork'];
export type NotObserved = components['schemas']['NotObserved'];
export type Note = components['schemas']['Note'];
export type NotifiedFinding = components['schemas']['NotifiedFinding'];
export type ObjectiveState = components['schemas']['ObjectiveState'];
export type OneDelivery = components['schemas']['OneDelivery'];
export type OneSeries = components['schemas']['OneSeries'];
export type OneSeriesOfRuns = components['schemas']['OneSeriesOfRuns'];
export type Onset = components['schemas']['Onset'];
export type OtherSize = components['schemas']['OtherSize'];
export type OutcomeEnum = components['schemas']['OutcomeEnum'];
export type OwnAddress = components['schemas']['OwnAddress'];
export type PageData = components['schemas']['PageData'];
export type PanelNode = components['schemas']['PanelNode'];
export type Part = components['schemas']['Part'];
export type Parts = components['schemas']['Parts'];
export type PercentileLine = components['schemas']['PercentileLine'];
export type Pin = components['schemas']['Pin'];
export type PlannedLoadLevel = components['schemas']['PlannedLoadLevel'];
export type PlannedWorkload = components['schemas']['PlannedWorkload'];
export type Platform = components['schemas']['Platform'];
export type PlatformList = components['schemas']['PlatformList'];
export type Pool = components['schemas']['Pool'];
export type PriceDescription = components['schemas']['PriceDescription'];
export type Problem = components['schemas']['Problem'];
export type Progress = components['schemas']['Progress'];
export type ProvenanceEnum = components['schemas']['ProvenanceEnum'];
export type PublishedResult = components['schemas']['PublishedResult'];
export type Quantile = components['schemas']['Quantile'];
export type Quantity = components['schemas']['Quantity'];
export type QuantityDifference = components['schemas']['QuantityDifference'];
export type QuantityRange = components['schemas']['QuantityRange'];
export type Ratio = components['schemas']['Ratio'];
export type RatioAxis = components['schemas']['RatioAxis'];
export type RatioPoint = components['schemas']['RatioPoint'];
export type Reach = components['schemas']['Reach'];
export type Reading = components['schemas']['Reading'];
export type RefusedSystem = components['schemas']['RefusedSystem'];
export type RegisteredSystem = components['schemas']['RegisteredSystem'];
export type RejoinTransfer = components['schemas']['RejoinTransfer'];
export type Release = components['schemas']['Release'];
export type ReleaseCheck = components['schemas']['ReleaseCheck'];
export type ReleaseList = components['schemas']['ReleaseList'];
export type Reopening = components['schemas']['Reopening'];
export type RepeatPlan = components['schemas']['RepeatPlan'];
export type Repetition = components['schemas']['Repetition'];
export type RepetitionShare = components['schemas']['RepetitionShare'];
export type Replicate = components['schemas']['Replicate'];
export type Replicates = components['schemas']['Replicates'];
export type Resource = components['schemas']['Resource'];
export type ResourceAtLevel = components['schemas']['ResourceAtLevel'];
export type ResourceLevel = components['schemas']['ResourceLevel'];
export type Rested = components['schemas']['Rested'];
export type Result = components['schemas']['Result'];
export type RoleEnum = components['schemas']['RoleEnum'];
export type RowSpan = components['schemas']['RowSpan'];
export type RowVerdict = components['schemas']['RowVerdict'];
export type Run = components['schemas']['Run'];
export type RunCell = components['schemas']['RunCell'];
export type RunDescription = components['schemas']['RunDescription'];
export type RunDescriptionFormatEnum = components['schemas']['RunDescriptionFormatEnum'];
export type RunDetail = components['schemas']['RunDetail'];
export type RunDistributions = components['schemas']['RunDistributions'];
export type RunForm = components['schemas']['RunForm'];
export type RunFormFormatEnum = components['schemas']['RunFormFormatEnum'];
export type RunGrowth = components['schemas']['RunGrowth'];
export type RunList = components['schemas']['RunList'];
export type RunLoadLevel = components['schemas']['RunLoadLevel'];
export type RunPageData = components['schemas']['RunPageData'];
export type RunPoint = components['schemas']['RunPoint'];
export type RunSeries = components['schemas']['RunSeries'];
export type RunSpread = components['schemas']['RunSpread'];
export type RunSteadiness = components['schemas']['RunSteadiness'];
export type RunSystem = components['schemas']['RunSystem'];
export type RunUse = components['schemas']['RunUse'];
export type RunWithoutFault = components['schemas']['RunWithoutFault'];
export type RunWorkload = components['schemas']['RunWorkload'];
export type Saturation = components['schemas']['Saturation'];
export type Saved = components['schemas']['Saved'];
export type SavedComparisonList = components['schemas']['SavedComparisonList'];
export type SavedRow = components['schemas']['SavedRow'];
export type SavedWords = components['schemas']['SavedWords'];
export type ScaleEnum = components['schemas']['ScaleEnum'];
export type Schedule = components['schemas']['Schedule'];
export type ScheduleDetail = components['schemas']['ScheduleDetail'];
export type ScheduleList = components['schemas']['ScheduleList'];
export type SchemaChange = components['schemas']['SchemaChange'];
export type SchemaChanges = components['schemas']['SchemaChanges'];
export type SecondsCharts = components['schemas']['SecondsCharts'];
export type SecondsRun = components['schemas']['SecondsRun'];
export type SecondsView = components['schemas']['SecondsView'];
export type SeriesEntry = components['schemas']['SeriesEntry'];
export type SeriesIndex = components['schemas']['SeriesIndex'];
export type SeriesOfRuns = components['schemas']['SeriesOfRuns'];
export type SeriesRun = components['schemas']['SeriesRun'];
export type SessionPlan = components['schemas']['SessionPlan'];
export type SessionSplit = components['schemas']['SessionSplit'];
export type SettingDifference = components['schemas']['SettingDifference'];
export type ShortNameDescription = components['schemas']['ShortNameDescription'];
export type Side = components['schemas']['Side'];
export type SideBox = components['schemas']['SideBox'];
export type SideClaim = components['schemas']['SideClaim'];
export type SideCost = components['schemas']['SideCost'];
export type SideEnum = components['schemas']['SideEnum'];
export type SideLatency = components['schemas']['SideLatency'];
export type SideMemory = components['schemas']['SideMemory'];
export type SideRun = components['schemas']['SideRun'];
export type SideSummary = components['schemas']['SideSummary'];
export type SideUse = components['schemas']['SideUse'];
export type SideValue = components['schemas']['SideValue'];
export type SignOff = components['schemas']['SignOff'];
export type SignOffList = components['schemas']['SignOffList'];
export type SkipCell = components['schemas']['SkipCell'];
export type Slot = components['schemas']['Slot'];
export type SlotList = components['schemas']['SlotList'];
export type Snapshot = components['schemas']['Snapshot'];
export type SpreadBox = components['schemas']['SpreadBox'];
export type StaleRead = components['schemas']['StaleRead'];
export type StateEnum = components['schemas']['StateEnum'];
export type StatedLimit = components['schemas']['StatedLimit'];
export type StatedMatrix = components['schemas']['StatedMatrix'];
export type StatedSchedule = components['schemas']['StatedSchedule'];
export type StatedTest = components['schemas']['StatedTest'];
export type StatementDifference = components['schemas']['StatementDifference'];
export type StatusEnum = components['schemas']['StatusEnum'];
export type Steadiness = components['schemas']['Steadiness'];
export type SteadinessChart = components['schemas']['SteadinessChart'];
export type StepUp = components['schemas']['StepUp'];
export type SubmittedRun = components['schemas']['SubmittedRun'];
export type Subscription = components['schemas']['Subscription'];
export type SubscriptionList = components['schemas']['SubscriptionList'];
export type System = components['schemas']['System'];
export type SystemDescription = components['schemas']['SystemDescription'];
export type SystemList = components['schemas']['SystemList'];
export type SystemPair = components['schemas']['SystemPair'];
export type Table = components['schemas']['Table'];
export type TeamList = components['schemas']['TeamList'];
export type TeamRow = components['schemas']['TeamRow'];
export type ThreadsAxis = components['schemas']['ThreadsAxis'];
export type Threshold = components['schemas']['Threshold'];
export type ThresholdBand = components['schemas']['ThresholdBand'];
export type ThresholdDescription = components['schemas']['ThresholdDescription'];
export type ThresholdList = components['schemas']['ThresholdList'];
export type ThroughputLine = components['schemas']['ThroughputLine'];
export type ThroughputPanel = components['schemas']['ThroughputPanel'];
export type TickedAxis = components['schemas']['TickedAxis'];
export type Timeline = components['schemas']['Timeline'];
export type TimelinePageData = components['schemas']['TimelinePageData'];
export type TimeoutShare = components['schemas']['TimeoutShare'];
export type ToolAgreement = components['schemas']['ToolAgreement'];
export type Trend = components['schemas']['Trend'];
export type TrendBurst = components['schemas']['TrendBurst'];
export type TrendChange = components['schemas']['TrendChange'];
export type TrendChart = components['schemas']['TrendChart'];
export type TrendDetail = components['schemas']['TrendDetail'];
export type TrendDrift = components['schemas']['TrendDrift'];
export type TrendEffect = components['schemas']['TrendEffect'];
export type TrendLevel = components['schemas']['TrendLevel'];
export type TrendList = components['schemas']['TrendList'];
export type TrendPatterns = components['schemas']['TrendPatterns'];
export type TrendPoint = components['schemas']['TrendPoint'];
export type TrendSeason = components['schemas']['TrendSeason'];
export type TrendSessions = components['schemas']['TrendSessions'];
export type TrialGroup = components['schemas']['TrialGroup'];
export type TrialPhase = components['schemas']['TrialPhase'];
export type TrialSpread = components['schemas']['TrialSpread'];
export type Tried = components['schemas']['Tried'];
export type TriedChange = components['schemas']['TriedChange'];
export type TriedReleases = components['schemas']['TriedReleases'];
export type TriedSeries = components['schemas']['TriedSeries'];
export type UseLevel = components['schemas']['UseLevel'];
export type UseMethod = components['schemas']['UseMethod'];
export type UseReading = components['schemas']['UseReading'];
export type ValueAxis = components['schemas']['ValueAxis'];
export type Verdict = components['schemas']['Verdict'];
export type Weight = components['schemas']['Weight'];
export type Whole = components['schemas']['Whole'];
export type WorkChart = components['schemas']['WorkChart'];
export type WorkDifference = components['schemas']['WorkDifference'];
export type WorkPoint = components['schemas']['WorkPoint'];
export type Workload = components['schemas']['Workload'];
export type WorkloadDescription = components['schemas']['WorkloadDescription'];
export type WorkloadList = components['schemas']['WorkloadList'];
export type WorkloadResult = components['schemas']['WorkloadResult'];
export type WriteRows = components['schemas']['WriteRows'];
export type EnrolAnswer = components['schemas']['EnrolAnswer'];
export type HelloMessage = components['schemas']['HelloMessage'];
export type SystemMessage = components['schemas']['SystemMessage'];
export type NodeMessage = components['schemas']['NodeMessage'];
export type AwsMessage = components['schemas']['AwsMessage'];
export type HardwareMessage = components['schemas']['HardwareMessage'];
export type HelloAnswer = components['schemas']['HelloAnswer'];
export type JobMessage = components['schemas']['JobMessage'];
export type PlannedRun = components['schemas']['PlannedRun'];
export type LoadLevelMessage = components['schemas']['LoadLevelMessage'];
export type RampMessage = components['schemas']['RampMessage'];
export type RenewMessage = components['schemas']['RenewMessage'];
export type RenewAnswer = components['schemas']['RenewAnswer'];
export type RunMessage = components['schemas']['RunMessage'];
export type RunNodeMessage = components['schemas']['RunNodeMessage'];
export type RunEndMessage = components['schemas']['RunEndMessage'];
export type ArtifactMessage = components['schemas']['ArtifactMessage'];
export type JobEndMessage = components['schemas']['JobEndMessage'];
export type SkippedRun = components['schemas']['SkippedRun'];
export type FailoverMessage = components['schemas']['FailoverMessage'];
export type FailoverAnswer = components['schemas']['FailoverAnswer'];
export type ClockMessage = components['schemas']['ClockMessage'];
export type SamplingMessage = components['schemas']['SamplingMessage'];
export type SamplingAnswer = components['schemas']['SamplingAnswer'];
export type SampledRun = components['schemas']['SampledRun'];
export type StreamEndMessage = components['schemas']['StreamEndMessage'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
