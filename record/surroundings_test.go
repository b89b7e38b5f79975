package record

import (
	"maps"
	"testing"
)

func TestEnvironmentOf(t *testing.T) {
	got := environmentOf([]string{
		"HOME=/home/a", "PATH=/bin", "GOGC=off", "GOGCX=1", "OMP_NUM_THREADS=4", "OMP=1", "CUDA_VISIBLE_DEVICES=0,1",
		"OMPI_MCA_btl=tcp,self",
		"TEPS_ENGINE_PATH=/opt/a=b", "TEPS_REDFISH_PASSWORD=x", "TEPS_API_TOKEN=x", "TEPS_KEY=x",
		"TEPS_USER=x", "TEPS_REDFISH_URL=https://u:p@h",
		"OMPI_MCA_oob_auth=x", "SLURM_JOB_ID=7", "SLURM_JOB_USER=x", "SLURM_JOB_ACCOUNT=x",
		"AWS_SECRET_ACCESS_KEY=x", "GODEBUG=", "NOTHING",
	})
	want := map[string]string{
		"GOGC": "off", "OMP_NUM_THREADS": "4", "CUDA_VISIBLE_DEVICES": "0,1", "OMPI_MCA_btl": "tcp,self",
		"TEPS_ENGINE_PATH": "/opt/a=b",
		"SLURM_JOB_ID":     "7", "GODEBUG": "",
	}
	if !maps.Equal(got, want) {
		t.Errorf("recorded %v\nwant %v", got, want)
	}
	if none := environmentOf([]string{"HOME=/", "PATH=/bin"}); len(none) != 0 {
		t.Errorf("recorded %v", none)
	}
}

func TestManifestHasEnvironment(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "8GiB")
	s := newStore(t)
	s.Close()
	r, err := Load(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if r.Environment["GOMEMLIMIT"] != "8GiB" {
		t.Errorf("environment %v", r.Environment)
	}
	if s.entries[0].Session.Environment["GOMEMLIMIT"] != "8GiB" {
		t.Error("the session has no environment")
	}
}
